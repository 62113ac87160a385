package dev.pipewright.formats.transformer;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.ShownText;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Megatron's notation of which layers a pipeline stage holds, the value of {@code
 * --pipeline-model-parallel-layout}: {@code Et*3|(tt|)*29,m|L}. Commas are dropped, then groups and
 * after them letters are repeated, once each; stages stand between bars. Stage i runs on pipeline
 * rank i mod P, as its chunk i div P.
 *
 * <p>Source: Megatron-LM, {@code megatron/core/transformer/pipeline_parallel_layer_layout.py}, of
 * 2026. {@link #problems} finds what that program refuses; where it stops at the first, this names
 * all.
 *
 * @param stages the layers of each stage, in the order of the layout
 * @param ranks pipeline-parallel ranks, of which the number of stages is a multiple
 */
public record MegatronLayout(List<List<Kind>> stages, int ranks) {
  /** A layer of a stage. */
  public enum Kind {
    EMBEDDING('E'),
    DECODER('t'),
    /** Of multi-token prediction. */
    MTP('m'),
    LOSS('L');

    private final char letter;

    Kind(char letter) {
      this.letter = letter;
    }

    /** Its letter in the notation. */
    char letter() {
      return letter;
    }

    /** As Megatron's messages name it. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private static final int UNICODE_DIGITS = Pattern.UNICODE_CHARACTER_CLASS | Pattern.UNIX_LINES;
  private static final Pattern GROUP = Pattern.compile("\\(([^)]+)\\)\\*(\\d+)", UNICODE_DIGITS);
  private static final Pattern LETTER = Pattern.compile("(.)\\*(\\d+)", UNICODE_DIGITS);

  /** Letters and bars of an expanded layout: more stages and layers than anyone trains. */
  private static final int MOST = 1 << 20;

  public MegatronLayout {
    stages = stages.stream().map(List::copyOf).toList();
  }

  /**
   * Reads a layout.
   *
   * @throws BadInputException where Megatron's parser refuses the text or the number of ranks
   */
  public static MegatronLayout parse(String text, int ranks) {
    if (ranks < 1) {
      throw new BadInputException(
          "--pipeline: %d is no number of ranks; give a whole number >= 1".formatted(ranks));
    }
    String expanded = repeated(text, repeated(text, text.replace(",", ""), GROUP), LETTER);
    List<List<Kind>> stages = new ArrayList<>();
    for (String stage : expanded.split("\\|", -1)) {
      List<Kind> layers = new ArrayList<>(stage.length());
      stage.codePoints().forEach(letter -> layers.add(kind(text, letter)));
      stages.add(layers);
    }
    if (stages.size() % ranks != 0) {
      throw wrong(
          text,
          "has %d stages, which is no multiple of the %d pipeline ranks; separate as many with |"
              .formatted(stages.size(), ranks));
    }
    return new MegatronLayout(stages, ranks);
  }

  private static String repeated(String layout, String text, Pattern pattern) {
    StringBuilder out = new StringBuilder();
    Matcher matcher = pattern.matcher(text);
    int end = 0;
    while (matcher.find()) {
      out.append(text, end, matcher.start());
      int times = times(matcher.group(2));
      if ((long) times * matcher.group(1).length() + out.length() > MOST) {
        throw wrong(layout, "holds more than %,d layers; repeat fewer".formatted(MOST));
      }
      out.append(matcher.group(1).repeat(times));
      end = matcher.end();
    }
    return out.append(text, end, text.length()).toString();
  }

  private static int times(String digits) {
    int times = 0;
    for (int i = 0; i < digits.length(); i++) {
      times = Math.min(MOST + 1, 10 * times + Character.digit(digits.charAt(i), 10));
    }
    return times;
  }

  private static Kind kind(String text, int letter) {
    for (Kind kind : Kind.values()) {
      if (kind.letter == letter) {
        return kind;
      }
    }
    throw wrong(
        text,
        "has the invalid layer \"%s\" when it is expanded; write E, t, m and L for layers, | between stages, and x*3 or (xy|)*3 to repeat"
            .formatted(Character.toString(letter)));
  }

  private static BadInputException wrong(String text, String mistake) {
    return new BadInputException(
        "--megatron-layout: \"%s\" %s".formatted(ShownText.of(text), mistake));
  }

  /** Chunks of a rank. */
  public int chunks() {
    return stages.size() / ranks;
  }

  /** The layers of a rank's chunk. */
  public List<Kind> stage(int rank, int chunk) {
    return stages.get(chunk * ranks + rank);
  }

  /** How many layers of a kind there are. */
  public int count(Kind kind) {
    return stages.stream().mapToInt(stage -> Collections.frequency(stage, kind)).sum();
  }

  /** The stages without any layer, by their number from 0. */
  public List<Integer> empty() {
    List<Integer> empty = new ArrayList<>();
    for (int stage = 0; stage < stages.size(); stage++) {
      if (stages.get(stage).isEmpty()) {
        empty.add(stage);
      }
    }
    return empty;
  }

  /**
   * What Megatron refuses of a layout that reads well, a sentence each, in its order; empty where
   * it accepts the layout.
   *
   * @param layers decoder layers of the network; not compared where the user does not say
   * @param mtpLayers layers of multi-token prediction; empty for none
   */
  public List<String> problems(OptionalInt layers, OptionalInt mtpLayers) {
    List<Kind> all = stages.stream().flatMap(List::stream).toList();
    List<String> found = new ArrayList<>();
    if (all.isEmpty()) {
      found.add("the layout holds no layers; begin it with E and end it with L");
      return found;
    }
    if (all.get(0) != Kind.EMBEDDING) {
      found.add("the first layer is %s; begin with E".formatted(all.get(0).word()));
    }
    if (all.get(all.size() - 1) != Kind.LOSS) {
      found.add("the last layer is %s; end with L".formatted(all.get(all.size() - 1).word()));
    }
    exactly(found, Kind.EMBEDDING, "E", 1);
    exactly(found, Kind.LOSS, "L", 1);
    layers.ifPresent(expected -> exactly(found, Kind.DECODER, "t", expected));
    exactly(found, Kind.MTP, "m", mtpLayers.orElse(0));
    int first = all.indexOf(Kind.MTP);
    if (first >= 0 && all.lastIndexOf(Kind.DECODER) > first) {
      found.add("a decoder layer follows one of multi-token prediction; write all t before m");
    }
    addMisplacedPrediction(found, mtpLayers);
    return found;
  }

  private void exactly(List<String> found, Kind kind, String letter, int expected) {
    int count = count(kind);
    if (count != expected) {
      found.add(
          "%s (%s) occurs %d times, expected are %d; write %s as often"
              .formatted(kind.word(), letter, count, expected, letter));
    }
  }

  private void addMisplacedPrediction(List<String> found, OptionalInt mtpLayers) {
    for (int rank = 0; rank < ranks; rank++) {
      for (int chunk = 0; chunk < chunks() - 1; chunk++) {
        if (stage(rank, chunk).contains(Kind.MTP)) {
          found.add(
              "rank %d has multi-token prediction in chunk %d; write m in a rank's last chunk"
                  .formatted(rank, chunk));
        }
      }
      int last = Collections.frequency(stage(rank, chunks() - 1), Kind.MTP);
      if (last > 0 && last != mtpLayers.orElse(-1)) {
        found.add(
            "rank %d has %d of %d layers of multi-token prediction; write all m in the same stage"
                .formatted(rank, last, count(Kind.MTP)));
      }
    }
  }
}
