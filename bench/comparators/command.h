/* A command that has sockets for its standard input and output, as a host in Node gives them. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

struct command {
  pid_t pid;
  int to, from;
};

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static struct command start(char **argv) {
  int in[2], out[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, in) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, out) != 0) fail("socketpair");
  pid_t pid = fork();
  if (pid < 0) fail("fork");
  if (pid == 0) {
    dup2(in[1], 0);
    dup2(out[1], 1);
    close(in[0]), close(in[1]), close(out[0]), close(out[1]);
    execvp(argv[0], argv);
    fail("exec");
  }
  close(in[1]), close(out[1]);
  return (struct command){pid, in[0], out[0]};
}
