"""Hugging Face folders: config.json, tokenizer.json and safetensors files, read as a tensor source like GGUF."""
