package dev.pipewright.formats.problem;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Suggestion;
import dev.pipewright.units.Precision;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What {@code --precision} says. */
public final class Precisions {
  /** The 16-bit format that the devices have: bfloat16 where they have both. */
  private static final String MIXED = "mixed";

  /** Formats of products that only transformers with a stated layout are predicted in. */
  private static final List<String> NARROW = List.of("fp8", "mxfp8", "nvfp4");

  private static final String OPTION = "--precision";

  private Precisions() {}

  /** Throws {@link BadInputException} where no format is called so. */
  public static void check(String word) {
    if (!word.equals(MIXED) && !NARROW.contains(word)) {
      named(word);
    }
  }

  /** The format on a cluster; throws {@link BadInputException} where its devices lack it. */
  public static Precision on(String word, Cluster cluster) {
    if (word.equals(MIXED)) {
      return computes(cluster, Precision.BF16) ? Precision.BF16 : Precision.FP16;
    }
    Precision precision = named(word);
    if (!computes(cluster, precision)) {
      DeviceKind lacking =
          cluster.devices().stream()
              .filter(kind -> !kind.computes(precision))
              .findFirst()
              .orElseThrow();
      throw new BadInputException(
          "%s: %s does not compute in %s; take %s"
              .formatted(
                  OPTION,
                  lacking.name(),
                  word,
                  Arrays.stream(Precision.values())
                      .filter(each -> computes(cluster, each))
                      .map(Precision::word)
                      .collect(Collectors.joining(" or "))));
    }
    return precision;
  }

  private static boolean computes(Cluster cluster, Precision precision) {
    return cluster.devices().stream().allMatch(kind -> kind.computes(precision));
  }

  /** Whether a word means the precision that times were measured in. */
  public static boolean means(String word, Precision measured) {
    return word.equals(MIXED) ? measured.bytes() == 2 : named(word) == measured;
  }

  private static Precision named(String word) {
    for (Precision precision : Precision.values()) {
      if (precision.word().equals(word)) {
        return precision;
      }
    }
    if (NARROW.contains(word)) {
      throw new BadInputException(
          "%s: %s is predicted where a transformer's layout is stated (`predict --tensor --pipeline`); take bf16 here"
              .formatted(OPTION, word));
    }
    List<String> words =
        Stream.concat(Arrays.stream(Precision.values()).map(Precision::word), Stream.of(MIXED))
            .toList();
    throw new BadInputException(
        "%s: unknown '%s'; %s".formatted(OPTION, word, Suggestion.of(word, words)));
  }
}
