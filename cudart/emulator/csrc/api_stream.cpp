// api_stream.cpp: streams and events.
#include <algorithm>

#include "api.h"

using namespace emu;

// Queries answer "not ready" while anything is left, and bring the work on a little each time.
static int query(Call& c, const OpPtr& op) {
  if (!op || op->done) return c.core.lost;
  c.core.nudge(c.lock, op);
  if (c.core.lost) return c.core.lost;
  return op->done ? ok : notReady;
}

// notCaptured refuses a call that waits for a stream under capture; the capture is void then.
static bool notCaptured(Call& c, Stream* s) {
  if (c && s->capture) {
    for (Stream* other : s->capture->streams) other->broken = true;
    c.code = captureUnsupported;
  }
  return bool(c);
}

EMU_API int cuStreamCreate(void** stream, unsigned flags) {
  Call c(1);
  if (!c) return c.code;
  auto* s = new Stream;
  s->context = c.context;
  s->blocking = !(flags & 1);
  c.core.streams.insert(s);
  c.context->streams.push_back(s);
  *stream = s;
  return ok;
}

EMU_API int cuStreamDestroy_v2(void* stream) {
  Call c(1);
  if (!c) return c.code;
  auto* s = static_cast<Stream*>(stream);
  if (!c.core.streams.count(s)) return invalidHandle;
  int code = c.core.finishStream(c.lock, s);
  if (s->capture) s->capture->streams.erase(s);
  c.core.streams.erase(s);
  auto& list = s->context->streams;
  list.erase(std::remove(list.begin(), list.end(), s), list.end());
  delete s;
  return code;
}

EMU_API int cuStreamSynchronize(void* stream) {
  Call c(1, "sync");
  Stream* s = c ? c.stream(stream) : nullptr;
  if (!notCaptured(c, s)) return c.code;
  int code = s->isDefault ? c.core.finishAll(c.lock) : c.core.finishStream(c.lock, s);
  return code ? code : c.synced();
}

EMU_API int cuStreamQuery(void* stream) {
  Call c(1);
  Stream* s = c ? c.stream(stream) : nullptr;
  if (!notCaptured(c, s)) return c.code;
  return query(c, s->last);
}

EMU_API int cuEventCreate(void** event, unsigned flags) {
  Call c(1);
  if (!c) return c.code;
  auto* e = new Event;
  e->context = c.context;
  e->timing = !(flags & 2);
  c.core.events.insert(e);
  *event = e;
  return ok;
}

static Event* find(Call& c, void* event) {
  auto* e = static_cast<Event*>(event);
  if (c && !c.core.events.count(e)) c.code = invalidHandle;
  return e;
}

EMU_API int cuEventDestroy_v2(void* event) {
  Call c(1);
  Event* e = find(c, event);
  if (!c) return c.code;
  c.core.events.erase(e);
  delete e;
  return ok;
}

EMU_API int cuEventRecord(void* event, void* stream) {
  Call c(1);
  Event* e = find(c, event);
  Stream* s = c ? c.stream(stream) : nullptr;
  if (!c) return c.code;
  if (s->capture) {
    if (s->broken) return captureInvalidated;
    e->capture = s->capture;
    e->nodes = s->front;
    e->recorded = true;
    return ok;
  }
  auto op = std::make_shared<Op>();
  op->name = "event";
  int code = c.core.add(c.lock, s, op);
  if (code) return code;
  e->capture = nullptr;
  e->op = op;
  e->recorded = true;
  return ok;
}

EMU_API int cuStreamWaitEvent(void* stream, void* event, unsigned) {
  Call c(1);
  Event* e = find(c, event);
  Stream* s = c ? c.stream(stream) : nullptr;
  if (!c || !e->recorded) return c.code;
  if (e->capture) {
    if (s->capture && s->capture != e->capture) return 902;  // CUDA_ERROR_STREAM_CAPTURE_MERGE
    if (!s->capture) {                                       // the stream joins the capture
      s->capture = e->capture;
      s->broken = false;
      s->front.clear();
      s->capture->streams.insert(s);
    }
    for (int n : e->nodes)
      if (std::find(s->front.begin(), s->front.end(), n) == s->front.end()) s->front.push_back(n);
    return ok;
  }
  if (s->capture) {
    s->broken = true;
    return captureIsolation;
  }
  if (e->op->done) return ok;
  auto op = std::make_shared<Op>();
  op->name = "wait";
  Core::follow(op, e->op);
  return c.core.add(c.lock, s, op);
}

EMU_API int cuEventSynchronize(void* event) {
  Call c(1, "sync");
  Event* e = find(c, event);
  if (!c || !e->recorded) return c.code;
  if (e->capture) return capturedEvent;
  return c.core.finish(c.lock, e->op);
}

EMU_API int cuEventQuery(void* event) {
  Call c(1);
  Event* e = find(c, event);
  if (!c || !e->recorded) return c.code;
  if (e->capture) return capturedEvent;
  return query(c, e->op);
}

EMU_API int cuEventElapsedTime(float* ms, void* from, void* to) {
  Call c(1);
  Event *a = find(c, from), *b = find(c, to);
  if (!c) return c.code;
  if (!a->timing || !b->timing || !a->recorded || !b->recorded || a->capture || b->capture) return invalidHandle;
  if (!a->op->done || !b->op->done) return notReady;
  *ms = static_cast<float>(static_cast<double>(b->op->when - a->op->when) * 1e-6);
  return ok;
}
EMU_API int cuEventElapsedTime_v2(float* ms, void* from, void* to) { return cuEventElapsedTime(ms, from, to); }
