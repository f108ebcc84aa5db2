"""GGUF files: a strict reader for untrusted ones (engine.gguf.reader), a writer, and the block types they name."""
