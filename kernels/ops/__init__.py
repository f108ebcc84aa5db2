"""The kernels as Python calls: one module a family, each with its sources at a shape and its launch.

Called by engine.backends with torch tensors on the launcher's device; every call checks that each buffer is as large as
the kernel will read or write, then queues one or a few launches on torch's current stream and returns at once. Outputs
are the caller's buffers. Positions are int32 tensors of one element on the device, so that a captured graph can be
replayed at another position.
"""
