// Many peers in one process that costs next to nothing, so that what is measured is the server.
//
//   peers PATH SPEAKS PEERS OUTSTANDING MILLISECONDS   asks for roots; prints requests a second and the 99th percentile in us
//   peers PATH SPEAKS PEERS fan-out ROUNDS             prints when the last peer had each new list, ns of CLOCK_MONOTONIC
//
// SPEAKS is `rootsd` (attach, watch) or `mcp` (the other end is an MCP client: it initializes us and is asked again for its
// roots after list_changed). Both print "ready" first, and wait for a line on standard input where they are about to begin.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER = 1 << 16 };

static const char ATTACH[] =
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"rootsd/attach\",\"params\":{\"version\":1,\"server\":\"filesystem\"}}\n";
static const char WATCH[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rootsd/watch\"}\n";
static const char INITIALIZED[] =
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
    "\"serverInfo\":{\"name\":\"peers\",\"version\":\"1\"}}}\n";
static const char LIST[] = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"roots/list\"}\n";

struct peer {
  int fd;
  uint64_t asked;
};

static struct peer *peers;
static int count;
static int is_mcp;
static char buffer[BUFFER];

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void say(int fd, const char *text, size_t length) {
  if (write(fd, text, length) != (ssize_t)length) fail("write");
}

// How many lines have ended in what is there; waits for the first byte.
static int read_lines(int fd) {
  ssize_t length = read(fd, buffer, sizeof buffer);
  if (length <= 0) fail("read");
  int lines = 0;
  for (char *at = buffer; (at = memchr(at, '\n', (size_t)(buffer + length - at))) != NULL; at++) lines++;
  return lines;
}

static void expect(int fd, int lines) {
  while (lines > 0) lines -= read_lines(fd);
}

static void open_peer(struct peer *peer, const char *path, int watches) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  peer->fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (peer->fd < 0 || connect(peer->fd, (struct sockaddr *)&address, sizeof address) < 0) fail("connect");
  if (is_mcp) {
    expect(peer->fd, 1);
    say(peer->fd, INITIALIZED, sizeof INITIALIZED - 1);
    expect(peer->fd, 1);
    return;
  }
  say(peer->fd, ATTACH, sizeof ATTACH - 1);
  expect(peer->fd, 1);
  if (!watches) return;
  say(peer->fd, WATCH, sizeof WATCH - 1);
  expect(peer->fd, 1);
}

static void begin(void) {
  puts("ready");
  fflush(stdout);
  if (getchar() == EOF) exit(0);
}

static int watch_all(void) {
  int poll = epoll_create1(0);
  for (int i = 0; i < count; i++) {
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)i};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, peers[i].fd, &event) < 0) fail("epoll_ctl");
  }
  return poll;
}

static void ask(struct peer *peer) {
  peer->asked = now();
  say(peer->fd, LIST, sizeof LIST - 1);
}

static int by_time(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

// A closed loop: as soon as one is answered the next peer asks.
static void load(int outstanding, uint64_t duration) {
  static uint32_t took[1 << 23];
  size_t answers = 0;
  int poll = watch_all(), next = 0;
  struct epoll_event events[256];
  uint64_t start = now();
  while (next < outstanding) ask(&peers[next++]);
  while (now() - start < duration && answers < sizeof took / sizeof *took - 256) {
    int ready = epoll_wait(poll, events, 256, -1);
    for (int i = 0; i < ready; i++) {
      struct peer *peer = &peers[events[i].data.u32];
      if (read_lines(peer->fd) == 0) continue;
      took[answers++] = (uint32_t)((now() - peer->asked) / 1000);
      next = (next + 1) % count;
      ask(&peers[next]);
    }
  }
  double seconds = (double)(now() - start) / 1e9;
  qsort(took, answers, sizeof *took, by_time);
  printf("%.1f %u\n", (double)answers / seconds, took[answers * 99 / 100]);
}

static void fan_out(int rounds) {
  int poll = watch_all();
  struct epoll_event events[256];
  int *lines = calloc((size_t)count, sizeof *lines);
  for (int round = 0; round < rounds; round++) {
    int holding = 0;
    memset(lines, 0, (size_t)count * sizeof *lines);
    begin();
    while (holding < count) {
      int ready = epoll_wait(poll, events, 256, -1);
      for (int i = 0; i < ready; i++) {
        uint32_t n = events[i].data.u32;
        int ended = read_lines(peers[n].fd);
        if (ended == 0) continue;
        lines[n] += ended;
        if (is_mcp && lines[n] == 1) say(peers[n].fd, LIST, sizeof LIST - 1);
        if (lines[n] == (is_mcp ? 2 : 1)) holding++;
      }
    }
    printf("%llu\n", (unsigned long long)now());
    fflush(stdout);
  }
}

int main(int argc, char **argv) {
  // A server that hangs up is an error with its name.
  signal(SIGPIPE, SIG_IGN);
  if (argc != 6) return 64;
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  is_mcp = strcmp(argv[2], "mcp") == 0;
  count = atoi(argv[3]);
  peers = calloc((size_t)count, sizeof *peers);
  int fans_out = strcmp(argv[4], "fan-out") == 0;
  for (int i = 0; i < count; i++) open_peer(&peers[i], argv[1], fans_out);
  if (fans_out) {
    fan_out(atoi(argv[5]));
    return 0;
  }
  begin();
  load(atoi(argv[4]), (uint64_t)atoi(argv[5]) * 1000000u);
  return 0;
}
