"""A local server with OpenAI's two interfaces, whose answers and failures a test writes beforehand."""

import json
import math
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "sk-secret-of-the-test"
TOP = {" she": 0.5, " he": 0.3, " they": 0.1}


def answer(body):
    """Return the answer to a request: two tokens, the first one's distribution as in TOP."""
    stop = {".": 0.9, "!": 0.05}
    logged = [{token: math.log(p) for token, p in top.items()} for top in (TOP, stop)]
    usage = {"prompt_tokens": 7, "completion_tokens": 2}
    if "messages" in body:
        content = [
            {
                "token": next(iter(top)),
                "logprob": next(iter(top.values())),
                "top_logprobs": [{"token": t, "logprob": v} for t, v in list(top.items())[: body["top_logprobs"]]],
            }
            for top in logged
        ]
        message = {"role": "assistant", "content": " she."}
        return {
            "choices": [{"message": message, "logprobs": {"content": content}, "finish_reason": "stop"}],
            "usage": usage,
        }
    logprobs = {
        "tokens": [" she", "."],
        "token_logprobs": [math.log(0.5), math.log(0.9)],
        "top_logprobs": [dict(list(top.items())[: body["logprobs"]]) for top in logged],
    }
    return {"choices": [{"text": " she.", "logprobs": logprobs, "finish_reason": "stop"}], "usage": usage}


class Server:
    """Serves on a free port of this machine while the ``with`` block runs.

    ``script`` holds what the next requests get, in order: ``None`` for the answer, a number of seconds to wait before
    it, a tuple ``(status, headers, text)``, or a dict to send instead; afterwards every request is answered. ``seen``
    holds the requests: path, headers, decoded body, time.
    """

    def __init__(self):
        self.script = []
        self.seen = []
        self.lock = threading.Lock()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with owner.lock:
                    owner.seen.append((self.path, dict(self.headers), body, time.monotonic()))
                    planned = owner.script.pop(0) if owner.script else None
                status, headers, text = 200, {}, json.dumps(answer(body))
                if isinstance(planned, tuple):
                    status, headers, text = planned
                elif isinstance(planned, dict):
                    text = json.dumps(planned)
                elif planned is not None:
                    time.sleep(planned)
                elif self.headers.get("Authorization") != f"Bearer {KEY}":
                    status, text = 401, json.dumps({"error": {"message": f"wrong key {KEY[:8]}"}})
                try:
                    self.send_response(status)
                    for name, value in {**headers, "Content-Length": str(len(text.encode()))}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(text.encode())
                except OSError:  # the client did not wait
                    self.close_connection = True

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True

    @property
    def base_url(self):
        return f"http://127.0.0.1:{self.http.server_port}/v1"

    def __enter__(self):
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()
