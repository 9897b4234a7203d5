"""Ed25519 signatures of bundles, by keys in PEM files. Needs the extra [sign]."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernwright.core.errors import UserError, missing_extra

from .facts import FORMAT, Refused, Sealed, Signature

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

MOST_KEY_BYTES = 1 << 16


def sign(id: str, keyfile: Path) -> Signature:
    """A signature of a bundle's id.

    Raises:
        UserError: the file holds no such key, or the extra is not installed.
    """
    ed25519, serialization = _library()
    remedy = "make one with: openssl genpkey -algorithm ed25519 -out KEYFILE"
    try:
        key = serialization.load_pem_private_key(_bytes_of(keyfile), password=None)
    except (ValueError, TypeError) as error:
        raise UserError(f"{keyfile} holds no private key in PEM form without a password ({error}); {remedy}") from None
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise UserError(f"{keyfile} holds a key of another kind than Ed25519; {remedy}")
    return Signature(public_key=_hex(key.public_key()), ed25519=key.sign(_message(id)).hex())


def require_signed(sealed: Sealed, keyfile: Path) -> str:
    """Whose signature it bears, as a sentence, where that is the key in this file.

    Raises:
        Refused: it is not signed, or by another key, or the signature is not of this bundle.
        UserError: the file holds no such key, or the extra is not installed.
    """
    ed25519, serialization = _library()
    remedy = "make it with: openssl pkey -in KEYFILE -pubout -out PUBKEY"
    try:
        key = serialization.load_pem_public_key(_bytes_of(keyfile))
    except ValueError as error:
        raise UserError(f"{keyfile} holds no public key in PEM form ({error}); {remedy}") from None
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise UserError(f"{keyfile} holds a key of another kind than Ed25519; {remedy}")
    if sealed.signature is None:
        raise Refused("signature", f"it is not signed, and a signature by the key in {keyfile} was expected")
    if sealed.signature.public_key != _hex(key):
        raise Refused(
            "signature", f"it is signed by {sealed.signature.public_key}, and {_hex(key)}, in {keyfile}, was expected"
        )
    _require_right(sealed, sealed.signature)
    return f"signed by the key in {keyfile}"


def signed_by(sealed: Sealed) -> str:
    """Whose signature it bears, as a sentence, where no key was named.

    Raises:
        Refused: the signature is not of this bundle.
    """
    if sealed.signature is None:
        return "not signed"
    try:
        _require_right(sealed, sealed.signature)
    except UserError as error:
        return f"a signature that was not looked at: {error}"
    return f"signed by {sealed.signature.public_key}; whose key that is only --key PUBKEY can say"


def _require_right(sealed: Sealed, signature: Signature) -> None:
    ed25519, _ = _library()
    from cryptography.exceptions import InvalidSignature

    try:
        key = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(signature.public_key))
        key.verify(bytes.fromhex(signature.ed25519), _message(sealed.id))
    except (InvalidSignature, ValueError):
        raise Refused("signature", f"it is not what the key {signature.public_key} signs this bundle with") from None


def _message(id: str) -> bytes:
    return f"{FORMAT}\n{id}\n".encode()


def _hex(key: "Ed25519PublicKey") -> str:
    return key.public_bytes_raw().hex()


def _bytes_of(path: Path) -> bytes:
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise UserError(f"{path} is no regular file; name a key in PEM form.")
    try:
        with path.open("rb") as file:
            return file.read(MOST_KEY_BYTES)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}; name a key in PEM form.") from None


def _library() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ModuleNotFoundError as error:
        raise missing_extra("A signature", "sign") from error
    return ed25519, serialization
