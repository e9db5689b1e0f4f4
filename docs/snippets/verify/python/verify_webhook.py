import base64
import hashlib
import hmac
import re
import time

TOLERANCE_SECONDS = 300


def verify_body(body: bytes, signature: str, secrets: list[str]) -> bool:
    """X-Marketplace-Signature. The body is the request's raw bytes; secrets are all current secrets."""
    # compare_digest rejects non-ASCII str, so bytes are compared.
    return any(
        hmac.compare_digest(hmac.new(secret.encode(), body, hashlib.sha256).hexdigest().encode(), signature.encode())
        for secret in secrets
        if secret
    )


def verify_standard(
    message_id: str, timestamp: str, signature: str, body: bytes, secrets: list[str], now: float | None = None
) -> bool:
    """webhook-id, webhook-timestamp and webhook-signature."""
    if not message_id or "." in message_id or not re.fullmatch("[0-9]{1,12}", timestamp):
        return False
    now = time.time() if now is None else now
    if abs(int(now) - int(timestamp)) > TOLERANCE_SECONDS:
        return False

    content = f"{message_id}.{timestamp}.".encode() + body
    for key in filter(None, map(_key_of, secrets)):
        expected = b"v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest())
        if any(hmac.compare_digest(expected, given.encode()) for given in signature.split(" ")):
            return True
    return False


def _key_of(secret: str) -> bytes:
    if not secret.startswith("whsec_"):
        return secret.encode()
    try:
        return base64.b64decode(secret[6:], validate=True)
    except ValueError:
        return b""


# Test code, not part of the snippet: python3 verify_webhook.py vectors.json

if __name__ == "__main__":
    import json
    import sys

    with open(sys.argv[1], encoding="utf-8") as file:
        vectors = json.load(file)
    wrong = [
        v["name"]
        for v in vectors["marketplace"]
        if verify_body(v["body"].encode(), v["signature"], [v["secret"]]) != v["valid"]
    ] + [
        v["name"]
        for v in vectors["standard"]
        if verify_standard(v["id"], v["timestamp"], v["signature"], v["body"].encode(), v["secrets"], v["now"])
        != v["valid"]
    ]
    for name in wrong:
        print("wrong:", name)
    print(f"{len(vectors['marketplace']) + len(vectors['standard'])} vectors, {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)
