"""Block codecs: bytes of a stored tensor to float32 and back. The table of formats is engine.quant.codecs."""
