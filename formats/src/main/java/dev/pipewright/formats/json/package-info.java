/**
 * JSON and YAML as trees whose nodes know their line: readers ask a {@link
 * dev.pipewright.formats.json.Node} for what they need, and it refuses in a sentence what is
 * missing or has the wrong type. Jackson is loaded only for reading; {@link
 * dev.pipewright.formats.json.JsonText} writes without it.
 */
@NullMarked
package dev.pipewright.formats.json;

import org.jspecify.annotations.NullMarked;
