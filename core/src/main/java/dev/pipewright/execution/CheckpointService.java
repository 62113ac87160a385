package dev.pipewright.execution;

import java.util.OptionalInt;

/**
 * Turns checkpoints into single files that other programs read, and such files into checkpoints;
 * found through {@link java.util.ServiceLoader}. Paths are given as text; mistakes in files are
 * {@link IllegalArgumentException}s with a sentence for the user, and leave nothing half-written.
 */
public interface CheckpointService {
  /**
   * Parameters of a network, and its running averages.
   *
   * @param model the network's name
   * @param step how many steps have been made
   * @param tensors of which a tied table is one in a merged file, two in a checkpoint
   * @param elements numbers in all of them
   * @param written the file or folder that holds them now
   */
  record ParameterSet(String model, long step, int tensors, long elements, String written) {}

  /**
   * Writes the parameters and running averages of a checkpoint into one file of safetensors. The
   * file depends on the values alone, not on the plan that they were trained with.
   *
   * @param checkpoint its folder, or one that holds some of which the last counts
   */
  ParameterSet merge(String checkpoint, String file);

  /**
   * Makes a checkpoint before the first step of a file's parameters.
   *
   * @param model a name of the zoo or a file
   * @param sequence tokens of a sample; the network's usual ones where empty
   * @param folder of a run, which must hold no checkpoint yet
   */
  ParameterSet start(String file, String model, OptionalInt sequence, String folder);
}
