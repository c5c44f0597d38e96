package main

// TEMPORARY until widgets/render is there.
func draw(raw []byte) (map[string]any, error) { return map[string]any{}, nil }
