/*
 * A server that costs nothing: it answers `initialize`, and any other request with its own `params`, byte for byte. Lines
 * must be as JSON.stringify() writes them: {"jsonrpc":"2.0","id":N,"method":"M","params":{…}}, or with the id last.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char INITIALIZED[] =
    "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"serverInfo\":{\"name\":\"echo\",\"version\":\"1\"}}";

static void put(const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t written = write(1, bytes, length);
    if (written <= 0) exit(1);
    bytes += written;
    length -= (size_t)written;
  }
}

/* The id stands in front of the params, or behind them. Returns where its value starts. */
static char *find_id(char *line, size_t length, size_t *id_length) {
  size_t edge = length < 512 ? length : 512;
  char *id = memmem(line, edge, "\"id\":", 5);
  if (id == NULL || id > line + 32) {
    for (char *at = line + length - edge; (at = memmem(at, line + length - at, "\"id\":", 5)) != NULL; at++) id = at;
  }
  if (id == NULL) return NULL;
  id += 5;
  *id_length = strcspn(id, ",}");
  return id;
}

static void answer(char *line, size_t length) {
  size_t id_length, edge = length < 512 ? length : 512;
  char *id = find_id(line, length, &id_length);
  char *method = memmem(line, edge, "\"method\":\"", 10);
  if (id == NULL || method == NULL) return;
  if (strncmp(method + 10, "initialize\"", 11) == 0) {
    char head[sizeof INITIALIZED + 128];
    int size = snprintf(head, sizeof head, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":%s}\n", (int)id_length, id, INITIALIZED);
    put(head, (size_t)size);
    return;
  }
  char *params = memmem(line, edge, "\"params\":", 9);
  if (params == NULL) {
    char head[128];
    int size = snprintf(head, sizeof head, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{}}\n", (int)id_length, id);
    put(head, (size_t)size);
    return;
  }
  /* Written over the method, so that a long line is written once: …"method":"M","params": becomes …"result":. */
  memcpy(params, "\"result\":", 9);
  size_t before = (size_t)(method - line);
  char *start = memmove(params - before, line, before);
  put(start, length - (size_t)(start - line));
}

int main(void) {
  size_t capacity = 1 << 16, length = 0, done = 0;
  char *buffer = malloc(capacity);
  for (;;) {
    if (length == capacity && (buffer = realloc(buffer, capacity *= 2)) == NULL) return 1;
    ssize_t count = read(0, buffer + length, capacity - length);
    if (count <= 0) return 0;
    char *from = buffer + length;
    length += (size_t)count;
    for (char *end; (end = memchr(from, '\n', (size_t)(buffer + length - from))) != NULL; from = end + 1) {
      answer(buffer + done, (size_t)(end + 1 - buffer) - done);
      done = (size_t)(end + 1 - buffer);
    }
    memmove(buffer, buffer + done, length -= done);
    done = 0;
  }
}
