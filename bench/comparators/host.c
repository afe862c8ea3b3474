/*
 * A host that costs next to nothing, so that what is measured is what stands between it and its server.
 *
 *   host legacy|modern COMMAND ARG...
 *
 * It starts the command, as a host does with sockets for its standard input and output, and initializes it (legacy). It prints
 * the number of the process, then reads lines `BYTES COUNT IN_FLIGHT METHOD`: COUNT requests with a text of so many bytes, of
 * which IN_FLIGHT wait for their answer at a time. Each line is answered by the median and the 99th percentile of the round
 * trips and the time of all, in microseconds.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "command.h"

#define MODERN_META                                                                           \
  "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                    \
  "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"host\",\"version\":\"1\"},"             \
  "\"io.modelcontextprotocol/clientCapabilities\":{}},"

static const char INITIALIZE[] =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
    "\"capabilities\":{},\"clientInfo\":{\"name\":\"host\",\"version\":\"1\"}}}\n";
static const char INITIALIZED[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
enum { FIRST_ID = 1000000000, ID_DIGITS = 10, ID_AT = sizeof "{\"jsonrpc\":\"2.0\",\"id\":" - 1 };

static int to, from, is_modern;
static char buffer[1 << 18];

static double now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void say(const char *text) {
  if (write(to, text, strlen(text)) != (ssize_t)strlen(text)) fail("write");
}

/* A text in which every 64th byte is an escape, as source code has them. */
static char *make_request(size_t bytes, const char *method, size_t *length) {
  char *request = malloc(bytes + 1024);
  if (request == NULL) fail("malloc");
  int is_call = strcmp(method, "tools/call") == 0;
  char *at = request + sprintf(request, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":{%s%s\"text\":\"", FIRST_ID,
                               method, is_modern ? MODERN_META : "", is_call ? "\"name\":\"echo\",\"arguments\":{" : "");
  for (size_t i = 0; i < bytes; i++) at[i] = i % 64 == 62 && i + 1 < bytes ? '\\' : i % 64 == 63 ? 'n' : 'x';
  if (bytes % 64 == 0) at[bytes - 1] = 'n';
  at += bytes;
  at += sprintf(at, "\"%s}}\n", is_call ? "}" : "");
  *length = (size_t)(at - request);
  return request;
}

static void set_id(char *request, int id) {
  char digits[16];
  snprintf(digits, sizeof digits, "%d", id);
  memcpy(request + ID_AT, digits, ID_DIGITS);
}

static int by_size(const void *a, const void *b) {
  double difference = *(const double *)a - *(const double *)b;
  return difference < 0 ? -1 : difference > 0;
}

/* Answers come in the order of their requests. */
static void measure(size_t bytes, int count, int in_flight, const char *method) {
  static int id = FIRST_ID;
  size_t length, written = 0;
  char *request = make_request(bytes, method, &length);
  double *times = calloc((size_t)count, sizeof *times);
  if (times == NULL) fail("calloc");
  int started = 0, sent = 0, received = 0;
  size_t answer = 0;
  double begin = now_us();
  while (received < count) {
    if (sent == started && started < count && started - received < in_flight) {
      set_id(request, id++);
      times[started++] = now_us();
      written = 0;
    }
    int is_blocked = 0;
    if (sent < started) {
      ssize_t put = write(to, request + written, length - written);
      if (put < 0 && errno != EAGAIN) fail("write");
      if (put > 0) written += (size_t)put;
      is_blocked = written < length;
      if (!is_blocked) sent++;
    }
    int may_start = sent == started && started < count && started - received < in_flight;
    struct pollfd fds[] = {{from, POLLIN, 0}, {is_blocked ? to : -1, POLLOUT, 0}};
    if (poll(fds, 2, may_start ? 0 : -1) < 0) fail("poll");
    if (fds[0].revents == 0) continue;
    ssize_t got = read(from, buffer, sizeof buffer);
    if (got < 0 && errno == EAGAIN) continue;
    if (got <= 0) fail("the command has ended");
    char *line = buffer, *end = buffer + got;
    for (char *feed; (feed = memchr(line, '\n', (size_t)(end - line))) != NULL; line = feed + 1) {
      if (answer + (size_t)(feed - line) < bytes) fail("an answer is too short");
      answer = 0;
      times[received] = now_us() - times[received];
      received++;
    }
    answer += (size_t)(end - line);
  }
  double took = now_us() - begin;
  qsort(times, (size_t)count, sizeof *times, by_size);
  printf("%.1f %.1f %.0f\n", times[count / 2], times[count * 99 / 100], took);
  fflush(stdout);
  free(times);
  free(request);
}

int main(int argc, char **argv) {
  if (argc < 3) return 64;
  is_modern = strcmp(argv[1], "modern") == 0;
  struct command command = start(argv + 2);
  to = command.to;
  from = command.from;
  if (!is_modern) {
    say(INITIALIZE);
    for (ssize_t got = 0; got == 0 || buffer[got - 1] != '\n';) {
      got = read(from, buffer, sizeof buffer);
      if (got <= 0) fail("the command has ended");
    }
    say(INITIALIZED);
  }
  fcntl(to, F_SETFL, O_NONBLOCK);
  fcntl(from, F_SETFL, O_NONBLOCK);
  printf("%d\n", command.pid);
  fflush(stdout);
  size_t bytes;
  int count, in_flight;
  char method[64];
  while (scanf("%zu %d %d %63s", &bytes, &count, &in_flight, method) == 4) measure(bytes, count, in_flight, method);
  return 0;
}
