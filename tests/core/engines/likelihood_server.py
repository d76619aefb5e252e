"""A local server that tells the log-probabilities of prompts as vLLM and the server of llama-cpp-python do.

A tiny model stands behind it. ``change`` is called with its logits, so that a test can shift what it predicts.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import torch


class LikelihoodServer:
    """Serves on a free port of this machine while the ``with`` block runs; ``seen`` holds the decoded requests."""

    def __init__(self, model, tokenizer, change=lambda logits: logits):
        self.model, self.tokenizer, self.change = model, tokenizer, change
        self.seen = []
        self.lock = threading.Lock()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with owner.lock:
                    owner.seen.append(body)
                    text = json.dumps(owner.answer(body)).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True

    @property
    def base_url(self):
        return f"http://127.0.0.1:{self.http.server_port}/v1"

    def answer(self, body):
        if isinstance(body["prompt"], str):
            return self.text_answer(body)
        ids = body["prompt"]
        rows = self.rows(ids)
        values = [None, *(rows[place, token].item() for place, token in enumerate(ids[1:]))]
        following = int(rows[-1].argmax())
        usage = {"prompt_tokens": len(ids), "completion_tokens": 1}
        choice = {"text": self.tokenizer.decode([following]), "finish_reason": "length"}
        if "prompt_logprobs" in body:
            listed = [None, *({str(i): {"logprob": v, "rank": 1}} for i, v in zip(ids[1:], values[1:], strict=True))]
            return {"choices": [choice | {"prompt_logprobs": listed}], "usage": usage}
        tokens = [self.tokenizer.decode([token]) for token in [*ids, following]]
        logprobs = {"tokens": tokens, "token_logprobs": [*values, rows[-1, following].item()]}
        return {"choices": [choice | {"logprobs": logprobs}], "usage": usage}

    def text_answer(self, body):
        """Answer as llama-cpp-python does: the beginning is left out, and the first token behind it has no number."""
        begin = self.tokenizer.bos_token_id
        plain = body["prompt"].removeprefix(self.tokenizer.bos_token)
        ids = [begin, *self.tokenizer(plain, add_special_tokens=False)["input_ids"]] if plain else [begin]
        rows = self.rows(ids)
        biased = rows[-1].clone()
        for token, bias in body.get("logit_bias", {}).items():
            biased[int(token)] += bias
        following = int(biased.argmax())
        new = rows[-1, following].item()
        usage = {"prompt_tokens": len(ids), "completion_tokens": 1}
        tokens, values = [self.tokenizer.decode([following])], [new]
        if body.get("echo"):
            tokens = [self.tokenizer.decode([token]) for token in ids[1:]] + tokens
            values = [None, *(rows[place, token].item() for place, token in enumerate(ids[2:], 1)), new]
        return {"choices": [{"text": "", "logprobs": {"tokens": tokens, "token_logprobs": values}}], "usage": usage}

    def rows(self, ids):
        """Return log-probabilities of what follows each token."""
        with torch.no_grad():
            logits = self.model(input_ids=torch.tensor([ids])).logits[0].double()
        return self.change(logits).log_softmax(dim=1)

    def __enter__(self):
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()
