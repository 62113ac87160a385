package dev.pipewright.parallel;

import dev.pipewright.units.Check;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * How several workers compute each layer of a stage together: tensor parallelism by filters or
 * channels and spatial parallelism (ParaDL §3), by heads and MLP features, and sequence parallelism
 * (Megatron-LM); context parallelism (Llama 3) and expert parallelism.
 *
 * @param grid parts along each axis; one number, but for spatial parallelism, for experts whose
 *     workers have whole sequences (parts of the samples, then of the features), and for sequence
 *     parallelism whose groups are {@linkplain #copies copies} with other tokens each (parts of the
 *     tokens, then of the features)
 * @param reduction the all-reduce of gradients over parts and replicas
 */
public record Parallelism(Parallelism.Kind kind, List<Integer> grid, Reduction reduction) {
  /** One worker computes whole layers. */
  public static final Parallelism NONE = new Parallelism(Kind.NONE, List.of(1));

  private static final Pattern TEXT =
      Pattern.compile("([a-z]+):([1-9][0-9]{0,5}(?:x[1-9][0-9]{0,2}){0,2})");

  /** What the workers share out. */
  public enum Kind {
    NONE("none"),
    /** Filters of convolutions and output features of products: each worker reads all input. */
    FILTER("filter"),
    /** Input channels and features: what the workers make adds up. */
    CHANNEL("channel"),
    /** The places of maps: neighbours hand each other the rows that windows reach. */
    SPATIAL("spatial"),
    /** Heads and inner features of transformers' blocks; words of tables and heads. */
    TENSOR("tensor"),
    /**
     * Likewise, and the steps of sequences where a block works on each by itself. With a second
     * axis, several such groups also divide the tokens of sequences among them, as context
     * parallelism does: {@code sequence:4x8} is 4 context-parallel times 8 tensor-parallel ranks.
     */
    SEQUENCE("sequence"),
    /**
     * The tokens of sequences: each worker has all parameters and computes a contiguous share of
     * every sequence; for attention, keys and values are gathered (A. Dubey et al., <i>The Llama 3
     * herd of models</i>, arXiv:2407.21783, §3.3.2).
     */
    CONTEXT("context"),
    /**
     * The experts of mixtures: each worker has some, to which all send rows and which send back
     * what they make (D. Lepikhin et al., <i>GShard</i>, ICLR 2021, §3.1). With a grid of one axis
     * the group also divides the tokens of each sequence, as above (D. Liu et al., <i>MoE parallel
     * folding</i>, arXiv:2504.14960). With a second axis it divides samples, like the data-parallel
     * ranks of Megatron-LM: the workers of {@code expert:4x1} have whole sequences, and {@code
     * expert:4x2} is 4 groups with whole sequences, each of which divides all but experts among 2
     * workers as sequence parallelism does; each of the 8 has an eighth of the experts.
     */
    EXPERT("expert");

    private final String word;

    Kind(String word) {
      this.word = word;
    }

    /** The word used in flags. */
    public String word() {
      return word;
    }

    private boolean dividesFeatures() {
      return this == TENSOR || this == SEQUENCE;
    }

    private boolean dividesTokens() {
      return this == CONTEXT || this == EXPERT;
    }
  }

  public Parallelism {
    grid = List.copyOf(grid);
    Check.that(
        !grid.isEmpty() && grid.stream().allMatch(parts -> parts >= 1),
        "a split has a part or more along each axis: parts=%s",
        grid);
    Check.that(
        allows(kind, grid),
        "only maps are cut along several axes, samples and features for experts, like expert:4x2,"
            + " and tokens of several groups, like sequence:4x8: kind=%s, parts=%s",
        kind.word(),
        grid);
    Check.that(
        kind != Kind.NONE || grid.get(0) == 1, "what is not split has one part: parts=%s", grid);
  }

  private static boolean allows(Kind kind, List<Integer> grid) {
    boolean samples = kind == Kind.EXPERT && grid.size() == 2;
    boolean copies =
        kind == Kind.SEQUENCE && grid.size() == 2 && grid.get(0) > 1 && grid.get(1) > 1;
    return kind == Kind.SPATIAL || grid.size() == 1 || samples || copies;
  }

  /** The usual sums of gradients. */
  public Parallelism(Kind kind, List<Integer> grid) {
    this(kind, grid, Reduction.HIERARCHICAL);
  }

  /** The same with other sums of gradients. */
  public Parallelism with(Reduction other) {
    return several() ? new Parallelism(kind, grid, other) : this;
  }

  /** So many parts along one axis. */
  public static Parallelism of(Kind kind, int parts) {
    return new Parallelism(kind, List.of(parts));
  }

  /** Experts in so many parts, held by workers that have whole sequences. */
  public static Parallelism ofWholeSequences(int parts) {
    return new Parallelism(Kind.EXPERT, List.of(parts, 1));
  }

  /**
   * Experts in so many parts: with whole sequences where the samples of a group divide evenly,
   * since these exchange less, and with divided sequences otherwise.
   */
  public static Parallelism ofExperts(int parts, int samples) {
    return parts > 1 && samples % parts == 0
        ? ofWholeSequences(parts)
        : Parallelism.of(Kind.EXPERT, parts);
  }

  /**
   * So many context-parallel ranks, each a group of tensor-parallel ones with sequence parallelism.
   */
  public static Parallelism ofCopies(int copies, int features) {
    List<Integer> grid = copies == 1 ? List.of(features) : List.of(copies, features);
    return new Parallelism(Kind.SEQUENCE, grid);
  }

  /**
   * Experts in so many times so many parts: groups with samples of their own, whose workers divide
   * all else by features.
   */
  public static Parallelism ofExpertCopies(int copies, int features) {
    return new Parallelism(Kind.EXPERT, List.of(copies, features));
  }

  /**
   * Whether it consists of groups that divide layers by features, for other tokens or samples each:
   * the {@link #copies}. The experts of mixtures are divided among all.
   */
  public boolean nested() {
    return grid.size() == 2 && (kind == Kind.SEQUENCE || (kind == Kind.EXPERT && grid.get(1) > 1));
  }

  /**
   * Groups that divide layers alike, each for other tokens of the same sequences or for other
   * samples: so many workers hold each piece of what is divided.
   */
  public int copies() {
    return nested() ? grid.get(0) : 1;
  }

  /**
   * Workers of each of the {@link #copies}: what layers' parameters are divided by, but for {@link
   * #expertParts experts}.
   */
  public int pieces() {
    return parts() / copies();
  }

  /** What the experts of mixtures are divided by where workers have whole ones. */
  public int expertParts() {
    return kind == Kind.EXPERT ? parts() : 1;
  }

  /** Whether several workers hold the same weights and see other tokens or samples. */
  public boolean sharesWeights() {
    return copies() > 1 || (several() && dividesTokens());
  }

  /** Whether workers divide blocks by heads and inner features. */
  public boolean dividesFeatures() {
    return kind.dividesFeatures() || nested();
  }

  /**
   * Whether each worker by itself has some of the tokens of all layers, of sequences or of samples,
   * from the embedding to the loss.
   */
  public boolean dividesTokens() {
    return kind.dividesTokens() && !nested();
  }

  /** Workers that divide heads and inner features: the tensor-parallel ranks of transformers. */
  public int featureParts() {
    return dividesFeatures() ? pieces() : 1;
  }

  /** How the workers of one of the {@link #copies} divide all but experts. */
  public Parallelism ofCopy() {
    return nested() ? new Parallelism(Kind.SEQUENCE, grid.subList(1, 2), reduction) : this;
  }

  /** What the {@link #copies} divide: samples or tokens. */
  public Parallelism betweenCopies() {
    return kind == Kind.EXPERT ? ofWholeSequences(copies()) : of(Kind.CONTEXT, copies());
  }

  /** The piece of what is divided that a part has; the {@link #copies} follow each other. */
  public int piece(int part) {
    return part % pieces();
  }

  /** Parts of the samples of a slice, where layers are divided by these. */
  public int sampleParts() {
    return kind == Kind.EXPERT && grid.size() == 2 ? grid.get(0) : 1;
  }

  /** Parts of the tokens of each sequence, where layers are divided by these. */
  public int tokenParts() {
    return switch (kind) {
      case CONTEXT -> parts();
      case EXPERT -> grid.size() == 1 ? parts() : 1;
      default -> copies();
    };
  }

  /** Workers that compute a layer together. */
  public int parts() {
    int parts = 1;
    for (int axis = 0; axis < grid.size(); axis++) { // asked for often: no stream
      parts = Math.multiplyExact(parts, grid.get(axis));
    }
    return parts;
  }

  /** Whether there is more than one part. */
  public boolean several() {
    return parts() > 1;
  }

  /** The place of a part along each axis; the last axis runs fastest. */
  public int[] place(int part) {
    int[] place = new int[grid.size()];
    int left = part;
    for (int axis = place.length - 1; axis >= 0; axis--) {
      place[axis] = left % grid.get(axis);
      left /= grid.get(axis);
    }
    return place;
  }

  /** The part at a place. */
  public int part(int... place) {
    int part = 0;
    for (int axis = 0; axis < place.length; axis++) {
      part = part * grid.get(axis) + place[axis];
    }
    return part;
  }

  /**
   * {@code t4}, {@code c4} of tokens, {@code e4} of experts, {@code ce4} of both, {@code c2t4} of
   * copies, {@code e8t4} where these divide 8 times; nothing where layers are whole.
   */
  public String degree() {
    String tokens = tokenParts() > 1 ? "c" : "";
    String letters =
        switch (kind) {
          case CONTEXT -> tokens;
          case EXPERT -> nested() ? "e" + parts() + "t" : tokens + "e";
          default -> copies() > 1 ? tokens + copies() + "t" : "t";
        };
    return several() ? letters + pieces() : "";
  }

  /**
   * The word for tables: {@code context+expert} where a group divides both, {@code
   * context+sequence}, {@code sequence+expert}.
   */
  public String word() {
    boolean tokens = kind != Kind.CONTEXT && tokenParts() > 1;
    boolean features = kind == Kind.EXPERT && nested();
    String before = tokens ? Kind.CONTEXT.word() : features ? Kind.SEQUENCE.word() : "";
    return before.isEmpty() ? kind.word() : before + "+" + kind.word();
  }

  /**
   * Reads {@code tensor:4}, {@code spatial:2x2}, {@code expert:4x2} or {@code sequence:4x8}; empty
   * where the text is nothing of the kind.
   */
  public static Optional<Parallelism> parse(String text) {
    Matcher parts = TEXT.matcher(text);
    if (!parts.matches()) {
      return Optional.empty();
    }
    List<Integer> grid = Arrays.stream(parts.group(2).split("x")).map(Integer::valueOf).toList();
    return Arrays.stream(Kind.values())
        .filter(kind -> kind.word().equals(parts.group(1)))
        .filter(kind -> allows(kind, grid))
        .filter(kind -> kind != Kind.NONE || grid.get(0) == 1)
        .findFirst()
        .map(kind -> new Parallelism(kind, grid));
  }

  /** {@code spatial:2x2}. */
  @Override
  public String toString() {
    return kind.word() + ":" + grid.stream().map(String::valueOf).collect(Collectors.joining("x"));
  }
}
