/*
 * An MCP server that asks for the roots COUNT times as soon as it is initialized, and says on standard error how long an
 * answer takes: the median in microseconds.
 *
 *   roots-asker COUNT
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char line[1 << 16];
static size_t held, taken;

/* The next line, without its end. */
static char *read_line(void) {
  memmove(line, line + taken, held -= taken);
  taken = 0;
  for (;;) {
    char *feed = memchr(line, '\n', held);
    if (feed != NULL) {
      *feed = '\0';
      taken = (size_t)(feed + 1 - line);
      return line;
    }
    ssize_t count = read(0, line + held, sizeof line - held);
    if (count <= 0) exit(0);
    held += (size_t)count;
  }
}

static void say(const char *text) {
  if (write(1, text, strlen(text)) != (ssize_t)strlen(text)) exit(1);
}

static double now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b) {
  double difference = *(const double *)a - *(const double *)b;
  return difference < 0 ? -1 : difference > 0;
}

int main(int argc, char **argv) {
  int count = argc > 1 ? atoi(argv[1]) : 0;
  if (count <= 0) return 64;
  double *times = calloc((size_t)count, sizeof *times);
  char *initialize = read_line();
  char *id = strstr(initialize, "\"id\":");
  if (times == NULL || id == NULL) return 1;
  char text[512];
  snprintf(text, sizeof text,
           "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
           "\"serverInfo\":{\"name\":\"asker\",\"version\":\"1\"}}}\n",
           (int)strcspn(id + 5, ",}"), id + 5);
  say(text);
  while (strstr(read_line(), "notifications/initialized") == NULL) continue;
  for (int i = 0; i < count; i++) {
    double begin = now_us();
    snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"roots/list\"}\n", i);
    say(text);
    while (strstr(read_line(), "\"roots\"") == NULL) continue;
    times[i] = now_us() - begin;
  }
  qsort(times, (size_t)count, sizeof *times, by_size);
  fprintf(stderr, "asked %.1f\n", times[count / 2]);
  while (read_line() != NULL) continue;
}
