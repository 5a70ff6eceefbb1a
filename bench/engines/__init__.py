"""The native engine and emitted C, against onnxruntime and other ways to run the same ONNX file."""
