package dev.pipewright.formats.export;

import java.util.Optional;

/**
 * What a user says of an export, apart from its target.
 *
 * @param around the target whose files a launcher starts; by default Megatron-LM's for decoders, a
 *     script of PyTorch's for other networks
 * @param torchtitanVersion of the torchtitan that reads the files; by default the newest
 */
public record ExportOptions(Optional<String> around, Optional<String> torchtitanVersion) {
  /** All defaults. */
  public static final ExportOptions NONE = new ExportOptions(Optional.empty(), Optional.empty());
}
