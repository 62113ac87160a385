package dev.pipewright.formats.export;

/**
 * A file that an export makes.
 *
 * @param name without a folder
 */
public record ExportedFile(String name, String text) {}
