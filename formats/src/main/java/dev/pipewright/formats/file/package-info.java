/**
 * Files as such: how text is read, with limits and from pipes, and written whole or not at all.
 * Whatever is wrong with a file is a {@link dev.pipewright.formats.file.BadInputException}, whose
 * message is one sentence with file, line and remedy.
 */
@NullMarked
package dev.pipewright.formats.file;

import org.jspecify.annotations.NullMarked;
