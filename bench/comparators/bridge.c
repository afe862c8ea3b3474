/*
 * What stands between a host and a server and does nothing else: each direction is read into one buffer and written from it.
 * It is the floor of one more process in the way.
 *
 *   bridge COMMAND ARG...
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "command.h"

struct flow {
  int from, to;
  size_t at, end;
  char buffer[1 << 16];
};

/* Reads where nothing waits to be written, and writes it. Returns 0 at the end of the input. */
static int move(struct flow *flow, short ready_from, short ready_to) {
  if (flow->at == flow->end && ready_from) {
    ssize_t count = read(flow->from, flow->buffer, sizeof flow->buffer);
    if (count == 0 || (count < 0 && errno != EAGAIN)) return 0;
    if (count < 0) return 1;
    flow->at = 0;
    flow->end = (size_t)count;
    ready_to = 1;
  }
  if (flow->at < flow->end && ready_to) {
    ssize_t count = write(flow->to, flow->buffer + flow->at, flow->end - flow->at);
    if (count < 0 && errno != EAGAIN) return 0;
    if (count > 0) flow->at += (size_t)count;
  }
  return 1;
}

int main(int argc, char **argv) {
  if (argc < 2) return 64;
  struct command command = start(argv + 1);
  static struct flow flows[2];
  flows[0].from = 0, flows[0].to = command.to;
  flows[1].from = command.from, flows[1].to = 1;
  int ends[] = {0, command.to, command.from, 1};
  for (int i = 0; i < 4; i++) fcntl(ends[i], F_SETFL, fcntl(ends[i], F_GETFL) | O_NONBLOCK);
  int is_open = 1;
  for (;;) {
    struct pollfd fds[4];
    for (int i = 0; i < 2; i++) {
      int is_empty = flows[i].at == flows[i].end;
      fds[2 * i] = (struct pollfd){is_empty && (i == 1 || is_open) ? flows[i].from : -1, POLLIN, 0};
      fds[2 * i + 1] = (struct pollfd){is_empty ? -1 : flows[i].to, POLLOUT, 0};
    }
    if (poll(fds, 4, -1) < 0) fail("poll");
    if (is_open && !move(&flows[0], fds[0].revents, fds[1].revents)) {
      is_open = 0;
      shutdown(command.to, SHUT_WR);
    }
    if (!move(&flows[1], fds[2].revents, fds[3].revents)) break;
  }
  int status;
  waitpid(command.pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
