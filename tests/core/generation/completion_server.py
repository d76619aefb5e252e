"""A local server with OpenAI's two interfaces, whose answers and failures a test writes beforehand."""

import contextlib
import json
import math
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "sk-secret-of-the-test"
TOP = {" she": 0.5, " he": 0.3, " they": 0.1}


def answer(body):
    """Return the answer to a request: two tokens, the first one's distribution as in TOP."""
    logged = [{token: math.log(p) for token, p in top.items()} for top in (TOP, {".": 0.9, "!": 0.05, "?": 0.01})]
    most = body.get("top_logprobs", body.get("logprobs") or 0)
    tops = [dict(list(top.items())[:most]) for top in logged]
    choice = {"text": " she.", "finish_reason": "stop"}
    if "messages" in body:
        choice["message"] = {"role": "assistant", "content": choice.pop("text")}
        listed = [[{"token": token, "logprob": value} for token, value in top.items()] for top in tops]
        choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top} for top in listed if top]}
    elif most:
        tokens = [next(iter(top)) for top in tops]
        values = [top[token] for top, token in zip(tops, tokens, strict=True)]
        choice["logprobs"] = {"tokens": tokens, "token_logprobs": values, "top_logprobs": tops}
    return {"choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}


@contextlib.contextmanager
def serve():
    """Serve on a free port of this machine inside the block; yields the server.

    Its ``script`` holds what the next requests get, in order: a number of seconds to wait before the answer, a tuple
    ``(status, headers, text)``, or a dict to send instead; afterwards every request is answered. ``seen`` holds the
    requests: path, key, decoded body.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                http.seen.append((self.path, self.headers["Authorization"], body))
                planned = http.script.pop(0) if http.script else 0
            status, headers, text = 200, {}, json.dumps(planned if isinstance(planned, dict) else answer(body))
            if isinstance(planned, tuple):
                status, headers, text = planned
            elif not isinstance(planned, dict):
                time.sleep(planned)
            with contextlib.suppress(OSError):  # the client did not wait
                self.send_response(status)
                sent = {"Content-Type": "application/json", "Content-Length": str(len(text.encode()))} | headers
                for name, value in sent.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    lock, http = threading.Lock(), ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.script, http.seen, http.daemon_threads = [], [], True
    http.base_url = f"http://127.0.0.1:{http.server_port}/v1"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield http
    http.shutdown()
    http.server_close()
    thread.join()
