"""Convert a rendered rehearsal to what a supervisor starts."""
