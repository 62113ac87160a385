package dev.pipewright.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.model.LayerGraph;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.zoo.Models;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** How far networks can be split, and the sentence that says so. */
class ParallelismLimitsTest {
  private static Optional<String> refusal(String network, Parallelism split) {
    LayerGraph graph = Models.find(network).orElseThrow().graph();
    return new ParallelismLimits(graph).refusal(split);
  }

  private static void allowed(String network, Kind kind, int parts) {
    assertEquals(Optional.empty(), refusal(network, Parallelism.of(kind, parts)));
  }

  private static void refused(String sentence, String network, Parallelism split) {
    assertEquals(Optional.of(sentence), refusal(network, split));
  }

  @Test
  void theNarrowestLayerLimitsFilters() {
    allowed("resnet-50", Kind.FILTER, 64);
    refused(
        "layer conv1 of resnet-50 has 64 filters and cannot be split in 65; take 64 parts or fewer",
        "resnet-50",
        Parallelism.of(Kind.FILTER, 65));
  }

  @Test
  void channelsAreSplitFromTheSecondProductOn() {
    allowed("vgg-16", Kind.CHANNEL, 64); // not 3, the channels of a picture
    refused(
        "layer conv1_2 of vgg-16 has 64 input channels and cannot be split in 65; take 64 parts or"
            + " fewer",
        "vgg-16",
        Parallelism.of(Kind.CHANNEL, 65));
  }

  @Test
  void headsLimitBlocks() {
    String network = "gpt:layers=2,hidden=12,heads=3,sequence=8,vocabulary=32";
    allowed(network, Kind.TENSOR, 3);
    assertEquals(
        true,
        refusal(network, Parallelism.of(Kind.SEQUENCE, 4))
            .orElseThrow()
            .endsWith("has 3 heads and cannot be split in 4; take 3 parts or fewer"));
  }

  @Test
  void tokensLimitContextParallelism() {
    String network = "gpt:layers=2,hidden=12,heads=3,sequence=8,vocabulary=32";
    allowed(network, Kind.CONTEXT, 8);
    assertEquals(
        true,
        refusal(network, Parallelism.of(Kind.CONTEXT, 9))
            .orElseThrow()
            .endsWith("has 8 tokens and cannot be split in 9; take 8 parts or fewer"));
    assertEquals(
        Optional.of("vgg-16 has no transformer block to split; take another kind"),
        refusal("vgg-16", Parallelism.of(Kind.CONTEXT, 2)));
  }

  /** Experts are divided among all, heads and tokens among the workers of each group. */
  @Test
  void groupsOfOwnersDivideHeadsAndTokensEvenly() {
    String sizes = "layers=2,hidden=12,heads=4,kv-heads=2,ffn=9,vocabulary=32";
    String network = "mixtral:sequence=8,experts=6," + sizes;
    assertEquals(Optional.empty(), refusal(network, Parallelism.ofExpertCopies(3, 2)));
    assertEquals(Optional.empty(), refusal(network, Parallelism.ofExpertCopies(1, 4)));
    assertEquals(
        true,
        refusal(network, Parallelism.ofExpertCopies(4, 2))
            .orElseThrow()
            .endsWith("has 6 experts and cannot be split in 8; take 6 parts or fewer"));
    assertEquals(
        true,
        refusal(network, Parallelism.ofExpertCopies(1, 5))
            .orElseThrow()
            .endsWith("has 4 heads and cannot be split in 5; take 4 parts or fewer"));
    assertEquals(
        true,
        refusal(network, Parallelism.ofExpertCopies(2, 3))
            .orElseThrow()
            .endsWith(
                "has 8 tokens, which 3 devices cannot share equally; take degrees whose product divides them"));
  }

  /** Each copy of a group has equally many tokens of all layers, and each member of them. */
  @Test
  void copiesOfGroupsDivideTheTokensOfAllLayersEvenly() {
    String network = "gpt:layers=2,hidden=12,heads=3,sequence=12,vocabulary=32";
    assertEquals(Optional.empty(), refusal(network, Parallelism.ofCopies(2, 3)));
    assertEquals(
        true,
        refusal(network, Parallelism.ofCopies(4, 2))
            .orElseThrow()
            .endsWith(
                "has 12 tokens, which 4 × 2 devices cannot share equally; take degrees whose product divides them"));
    assertEquals(
        true,
        refusal(network, Parallelism.ofCopies(2, 4))
            .orElseThrow()
            .endsWith("has 3 heads and cannot be split in 4; take 3 parts or fewer"));
    assertEquals(
        true,
        refusal("vit-b-16", Parallelism.ofCopies(2, 2))
            .orElseThrow()
            .endsWith(
                "does more than treat each token alike, so that 2 tensor-parallel groups cannot divide its tokens; take context or tensor parallelism alone"));
  }

  @Test
  void expertsAndTokensLimitExpertParallelism() {
    String sizes = "hidden=12,heads=3,kv-heads=3,ffn=8,vocabulary=32,chosen=2";
    allowed("mixtral:sequence=8,experts=6," + sizes, Kind.EXPERT, 6);
    assertEquals(
        true,
        refusal("mixtral:sequence=8,experts=6," + sizes, Parallelism.of(Kind.EXPERT, 7))
            .orElseThrow()
            .endsWith("has 6 experts and cannot be split in 7; take 6 parts or fewer"));
    assertEquals(
        true,
        refusal("mixtral:sequence=5,experts=6," + sizes, Parallelism.of(Kind.EXPERT, 6))
            .orElseThrow()
            .endsWith("has 5 tokens and cannot be split in 6; take 5 parts or fewer"));
    assertEquals(
        Optional.empty(),
        refusal("mixtral:sequence=5,experts=6," + sizes, Parallelism.ofWholeSequences(6)));
    assertEquals(
        Optional.of("llama3-8b has no mixture of experts to split; take another kind"),
        refusal("llama3-8b", Parallelism.of(Kind.EXPERT, 2)));
  }

  @Test
  void theFirstMapLimitsPlaces() {
    assertEquals(
        Optional.empty(), refusal("vgg-16", new Parallelism(Kind.SPATIAL, List.of(16, 16))));
    assertEquals(
        true,
        refusal("vgg-16", new Parallelism(Kind.SPATIAL, List.of(225, 1)))
            .orElseThrow()
            .startsWith("layer conv1_1 of vgg-16 reads maps of [224, 224] and cannot be split"));
  }

  @Test
  void aNetworkWithoutSuchLayersCannotBeSplit() {
    refused(
        "vgg-16 has no transformer block to split; take another kind",
        "vgg-16",
        Parallelism.of(Kind.TENSOR, 2));
    refused(
        "mlp-8x1024 has no layer whose spatial positions can be split; take another kind",
        "mlp-8x1024",
        new Parallelism(Kind.SPATIAL, List.of(2, 1)));
  }
}
