package dev.pipewright.formats.transformer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.formats.file.Refusal;
import dev.pipewright.formats.model.TransformerFile;
import dev.pipewright.model.transformer.AttentionSpan;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.zoo.TransformerShapes;
import dev.pipewright.zoo.TransformerShapes.Decoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MegatronFileTest {
  private static final String GPT =
      "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --seq-length 32"
          + " --max-position-embeddings 32 --vocab-size 256";

  @TempDir Path folder;

  private TransformerShape shape(String text) {
    return read(text).shape();
  }

  private TransformerFile read(String text) {
    Path file = Refusal.file(folder, "train.sh", text);
    assertTrue(MegatronFile.begins(text), text);
    return MegatronFile.read(file);
  }

  /** GPT-2's network, but for a head of its own without biases where the embedding is untied. */
  private static final TransformerShape PLAIN =
      TransformerShapes.gpt(new Decoder(4, 64, 4, 32, 256), 256);

  @ParameterizedTest
  @ValueSource(
      strings = {
        "torchrun pretrain_gpt.py " + GPT,
        """
        GPT_ARGS=(
          --num-layers 4 # deep
          --hidden-size 64
          --num-attention-heads 4
          --seq-length 32
          --max-position-embeddings 32 --vocab-size 256)
        torchrun ${D[@]} pretrain_gpt.py ${GPT_ARGS[@]} --lr $LR
        """,
        """
        H=64
        S=$((H/2))
        GPT_ARGS="
          --num-layers ${L:-4} \\
          --hidden-size $H
          --num-attention-heads $((H / (8 + 8)))
          --seq-length $S
          --max-position-embeddings ${S} --vocab-size 256"
        python p.py $GPT_ARGS
        """,
        """
        MODEL_ARGS:
          --num-layers: 4
          --hidden-size: 64
          --num-attention-heads: 4
          --seq-length: 32
          --max-position-embeddings: 32
          --vocab-size: 256
          --load: ${PATH}
        """,
        """
        python pretrain_gpt.py --num-layers=4 --hidden-size=64 \\
          --num-attention-heads=4 --seq-length=32 --max-position-embeddings=32 --vocab-size="256" '--x'
        """,
        """
        A=()
        if [[ $X == 1 ]]; then
          A+=("--num-layers 4" "--seq-length 32"
            "--hidden-size ${H:-"64"}" '--num-attention-heads 4')
        fi
        A+=(--max-position-embeddings 32
        #  --num-layers 5
          --vocab-size 256)
        p.py ${A[@]}
        """,
        """
        using world size: 8
        ------------------------ arguments ------------------------
          hidden_size ..................................... 64
        0:   num_layers ...................................... 4
        [default0]:  num_attention_heads .................... 4
          add_bias_linear ................................. True
          hybrid_attention_ratio .......................... 0.0
          encoder_num_layers .............................. 4
          max_position_embeddings ......................... 32
          seq_length ...................................... 32
          vocab_size ...................................... None
          num_experts ..................................... None
        -------------------- end of arguments ---------------------
         > padded vocab (size: 200) with 56 dummy tokens (new size: 256)
        """,
      })
  void everyFormGivesTheSameNetwork(String text) {
    assertEquals(PLAIN, shape(text));
  }

  @Test
  void defaultsAreMegatrons() {
    TransformerShape gated = shape("p.py " + GPT + " --swiglu --disable-bias-linear");
    long width = 128; // 4 · 64 · 2/3 rounded down to a multiple of 64
    long layer = 4 * 64 * 64 + 3 * 64 * width + 2 * 2 * 64;
    assertEquals(256 * 64 + 32 * 64 + 4 * layer + 2 * 64, gated.parameters());
    TransformerShape grouped =
        shape(
            "p.py "
                + GPT
                + " --swiglu --disable-bias-linear --group-query-attention --num-query-groups 2"
                + " --kv-channels 32 --normalization RMSNorm --qk-layernorm"
                + " --position-embedding-type rope --untie-embeddings-and-output-weights"
                + " --add-qkv-bias");
    long attention = 2 * 64 * (128 + 64) + 128 + 2 * 64 + 2 * 32;
    assertEquals(
        2 * 256 * 64 + 4 * (attention + 3 * 64 * width + 2 * 64) + 64, grouped.parameters());
  }

  @Test
  void mixturesFollowTheirPattern() {
    String experts = " --num-experts 8 --moe-router-topk 2 --moe-ffn-hidden-size 16";
    assertEquals("1111", mixed("p.py " + GPT + experts));
    assertEquals("1010", mixed("p.py " + GPT + experts + " --moe-layer-freq 2"));
    assertEquals("0111", mixed("p.py " + GPT + experts + " --moe-layer-freq \"([0]*1+[1]*3)\""));
    assertEquals("0101", mixed("p.py " + GPT + experts + " --moe-layer-freq '[0,1]*2'"));
    TransformerShape shape = shape("p.py " + GPT + experts + " --disable-bias-linear");
    assertEquals(4 * 6 * 2 * 64 * 16, shape.parameters() - shape.activeParameters());
  }

  private String mixed(String text) {
    StringBuilder marks = new StringBuilder();
    shape(text)
        .stack()
        .blocks()
        .forEach(block -> marks.append(block.parameters(64) == block.activeParameters(64) ? 0 : 1));
    return marks.toString();
  }

  @Test
  void windowsFollowTheirPattern() {
    String window = "p.py " + GPT + " --window-size 15,0";
    assertEquals("1111", windows(window));
    assertEquals("1010", windows(window + " --window-attn-skip-freq 2"));
    assertEquals(new AttentionSpan.Window(16), shape(window).stack().blocks().get(0).span());
  }

  private String windows(String text) {
    StringBuilder marks = new StringBuilder();
    shape(text)
        .stack()
        .blocks()
        .forEach(block -> marks.append(block.span() instanceof AttentionSpan.Full ? 0 : 1));
    return marks.toString();
  }

  @Test
  void vocabulariesArePaddedForTensorParallelism() {
    String plain = GPT.replace(" --vocab-size 256", "");
    TransformerFile padded = read("p.py " + plain + " --tensor-model-parallel-size 8");
    assertEquals(
        List.of(
            "50,257 words are those of GPT-2's tokenizer, Megatron's default",
            "the vocabulary of 50,257 words is padded to 51,200"),
        padded.notes());
    assertEquals(51_200 * 64, padded.shape().inputParameters() - 32 * 64);
    TransformerFile named = read("p.py " + plain + " --tokenizer-model $D/nemotron_2_256k.model");
    assertEquals(256_000 * 64, named.shape().inputParameters() - 32 * 64);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--hidden-size 64|1: --num-attention-heads is missing; add it",
        "--hidden-size $HIDDEN|1: --hidden-size is written with $HIDDEN, which the file does not assign; write",
        "--hidden-size $((A*2))|1: --hidden-size is written with $A, which the file does not assign; write",
        "--hidden-size $((2**3))|1: --hidden-size is $((2**3)), which is not understood; write",
        "--hidden-size $((2/0))|1: --hidden-size is $((2/0)), which is not understood; write",
        "--hidden-size $((999999999999999999*99))|1: --hidden-size is too large to count with; correct it",
        "--hidden-size $(cat size)|1: --hidden-size is $(cat size), which only a shell can tell; write",
        "--hidden-size $1|1: --hidden-size is $1, which only a shell can tell; write",
        "--hidden-size 64.5|1: --hidden-size is 64.5; expected a whole number",
        "--hidden-size 99999999999|1: --hidden-size is 99999999999; expected a whole number",
        "--hidden-size 64 --hidden-size 65|1: --hidden-size is 65 here and 64 in line 1; keep one",
        "--hidden-size 65 --num-attention-heads 2|1: --hidden-size 65 is no multiple of --num-attention-heads 2; correct",
        "--hidden-size 999999999 --num-attention-heads 1|1: the sizes are too large to count with; correct",
        "--hidden-size 64 --num-attention-heads 4|1: --max-position-embeddings is missing; add it",
        "--hidden-size 64 --num-attention-heads 4 --position-embedding-type rope|1: --seq-length is missing; add it",
        "--hidden-size 64 --num-attention-heads 4 --position-embedding-type alibi|1: --position-embedding-type is alibi, which is not supported yet; known",
        "--hidden-size 64 --num-attention-heads 4 --normalization L2Norm|1: --normalization is L2Norm, which is not supported yet; known",
        "--hybrid-override-pattern M-M*|1: --hybrid-override-pattern is not supported yet; give a GPT",
        "--tokenizer-type SentencePieceTokenizer|1: the vocabulary is that of the tokenizer SentencePieceTokenizer, whose words are not known here; add --vocab-size",
        "--hidden-size 64 --num-attention-heads 4 --num-experts 8 --moe-layer-freq [0]*3|1: --moe-layer-freq lists 3 layers, but --num-layers is 2; write",
        "--hidden-size 64 --num-attention-heads 4 --num-experts 8 --moe-layer-freq '__import__(1)'|1: --moe-layer-freq is no list of layers: expected [ before \"__import__(1\"; write",
        "--hidden-size 64 --num-attention-heads 4 --num-experts 8 --moe-layer-freq '[1]*9999999*9999999'|1: --moe-layer-freq lists more than 16384 layers; write",
        "--hidden-size 64 --num-attention-heads 4 --num-experts 2 --moe-router-topk 3|1: experts_per_token=3 is not from 1 to experts=2",
        "--hidden-size 64 --num-attention-heads 4 --multi-latent-attention|1: --multi-latent-attention with biases is not supported yet; add",
      })
  void mistakesAreSaidInASentence(String arguments, String expected) {
    Path file = Refusal.file(folder, "train.sh", "p.py --num-layers 2 " + arguments);
    String said = Refusal.of(file, MegatronFile::read);
    assertTrue(said.startsWith("train.sh:" + expected), said);
  }

  @ParameterizedTest
  @CsvSource({
    "--tensor-model-parallel-sze, --tensor-model-parallel-size",
    "--hiden-size, --hidden-size",
    "--tensor_model_parralel_size, --tensor-model-parallel-size",
    "--swigl, --swiglu",
    "--recompute-num-layer, --recompute-num-layers",
    "--sequnce-parallel, --sequence-parallel",
    "--micro-batch-szie, --micro-batch-size",
    "--hiddensize, --hidden-size",
  })
  void misspelledArgumentsAreRefused(String written, String meant) {
    String words = "is no argument of Megatron-LM; did you mean \"" + meant + "\"?";
    Path script = Refusal.file(folder, "train.sh", "p.py " + GPT + "\\\n " + written + " 4\n");
    String said = Refusal.of(script, MegatronFile::read);
    assertTrue(said.startsWith("train.sh:2: --") && said.endsWith(words), said);
    Path yaml =
        Refusal.file(folder, "t.yaml", "MODEL_ARGS:\n  --num-layers: 4\n  " + written + ": 4\n");
    said = Refusal.of(yaml, MegatronFile::arguments);
    assertTrue(said.startsWith("t.yaml:3: --") && said.endsWith(words), said);
  }

  /** Arguments that Megatron has and that are not read, and those of what starts it. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "--fp8-format hybrid",
        "--fp4",
        "--lr 1e-4",
        "--num-workers 2",
        "--nnodes 2",
        "--seed 1",
        "--encoder-num-layers 4",
        "--hidden-dropout 0",
        "--eval-interval 10",
        "--no-masked-softmax",
        "--cp-comm-type p2p",
        "--overlap-param-gather",
        "--moe-router-topk-scaling-factor 2",
        "--distributed-timeout-minutes 60",
        "--cpu-offloading-num-layers 2",
        "--use-flash-attn",
        "--attention-dropout 0",
        "--train-iters 10",
        "--split 9",
        "--mock-data",
        "--nproc-per-node 8",
        "--vocab-file words.json"
      })
  void argumentsThatAreNotReadArePassedOver(String others) {
    assertEquals(PLAIN, shape("torchrun p.py " + GPT + " " + others));
  }

  @Test
  void valuesThatAFileAssignsTwiceAreRefused() {
    String text = "H=64\nif [ $X = 1 ]; then\n  H=128\nfi\np.py --num-layers 2 --hidden-size $H\n";
    String said = Refusal.of(Refusal.file(folder, "train.sh", text), MegatronFile::read);
    assertTrue(
        said.startsWith(
            "train.sh:5: --hidden-size is written with $H, which the file assigns twice; write"),
        said);
    String self = "A=$B\nB=$A\np.py --num-layers 2 --hidden-size $A\n";
    said = Refusal.of(Refusal.file(folder, "train.sh", self), MegatronFile::read);
    assertTrue(said.contains("which the file does not assign"), said);
  }

  @Test
  void otherFilesAreNot() {
    assertFalse(MegatronFile.begins("{\"--num-layers\": 3}"));
    assertFalse(MegatronFile.begins("node1 -- a -- forward_compute_time=1"));
    assertFalse(MegatronFile.begins("layer,forward_s\n"));
  }

  private static Path reference(String name) {
    @Nullable String folder = System.getProperty("reference.dir");
    assumeTrue(folder != null, "the system property reference.dir is not set");
    Path file = Path.of(String.valueOf(folder), "interop", "megatron", name);
    assumeTrue(Files.exists(file), "no reference arguments " + file);
    return file;
  }

  private static long latent(long hidden, long heads) {
    long queries = 1536 * (hidden + heads * 192) + 1536;
    long keys = hidden * (512 + 64) + 512 + 512 * heads * 256;
    return queries + keys + hidden * heads * 128;
  }

  /** The three files of Megatron's own tests, with each tensor counted here. */
  @Test
  void megatronsOwnTestsAreRead() {
    long layer = 2 * 4096 * (4096 + 1024) + 4096 + 2048 + 4096; // attention with biases
    layer += 2 * 4096 * 16_384 + 16_384 + 4096 + 4 * 4096;
    assertEquals(
        2L * 131_200 * 4096 + 8192 * 4096 + 32 * layer + 2 * 4096,
        MegatronFile.read(reference("gpt3_7b_tp1_pp4_memory_speed.model_config.yaml"))
            .shape()
            .parameters());
    long attention = latent(7168, 128) + 2 * 7168;
    long expert = 3 * 7168 * 2048;
    long vocabulary = 258_560; // 256,000 padded to a multiple of 6,464
    TransformerFile proxy = MegatronFile.read(reference("deepseekv3_proxy.model_config.yaml"));
    assertEquals(
        2 * vocabulary * 7168
            + 7168
            + 14 * attention
            + 3 * 3L * 7168 * 18_432
            + 11 * (65 * expert + 64 * 7168 + 64),
        proxy.shape().parameters());
    assertEquals(4096, proxy.shape().sequence());
    assertEquals(
        attention + 65 * expert + 64 * 7168 + 64 + 2 * 7168 * 7168 + 3 * 7168,
        proxy.shape().predictionParameters());
    long small = latent(1024, 32) + 2 * 1024;
    assertEquals(
        2 * 51_712 * 1024
            + 1024
            + 16 * small
            + 3 * 1024 * 4096
            + 15 * (33 * 3 * 1024 * 1024 + 32 * 1024 + 32),
        MegatronFile.read(reference("moe-mla-memory_speed.model_config.yaml"))
            .shape()
            .parameters());
  }
}
