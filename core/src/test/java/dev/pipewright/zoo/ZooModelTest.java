package dev.pipewright.zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.model.Samples;
import dev.pipewright.units.Precision;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ZooModelTest {
  private static ZooModel model(String name) {
    return Models.find(name).orElseThrow();
  }

  @ParameterizedTest
  @CsvSource({
    // transformers on tensor cores: bfloat16 where there is any
    "gpt-2-xl,   dgx-h100,         BF16",
    "bert-48,    selene,           BF16",
    "xlnet-36,   a100-40g-8x1600g, BF16",
    "vit-b-16,   dgx-h100,         BF16",
    "gpt-2-xl,   dgx-v100,         FP16",
    // the clusters of DAPPLE's and ParaDL's runs, which are in 32 bits
    "gpt-2-xl,   dapple-a,         FP32",
    "bert-48,    dapple-b:4,       FP32",
    "bert-48,    abci,             FP32",
    // other networks
    "resnet-50,  dgx-h100,         FP32",
    "gnmt-16,    dgx-h100,         FP32",
    "mlp-8x1024, dgx-v100,         FP32"
  })
  void transformersTrainIn16BitsOnTensorCores(String name, String cluster, Precision usual) {
    Cluster on = Clusters.find(cluster).orElseThrow();
    assertEquals(usual, model(name).trainedOn(on).precision());
    assertEquals(model(name).training().optimizer(), model(name).trainedOn(on).optimizer());
  }

  @Test
  void networksOfAKindHaveTheSameUsualBatch() {
    Map<Samples, Integer> batches = new HashMap<>();
    for (String name : Models.names()) {
      int batch = model(name).usualBatchPerDevice();
      Integer other = batches.putIfAbsent(Samples.of(model(name).graph()), batch);
      assertEquals(other == null ? batch : other, batch, name);
    }
    assertEquals(
        Map.of(Samples.IMAGES, 32, Samples.VECTORS, 32, Samples.SEQUENCES, 1, Samples.VOLUMES, 1),
        batches);
  }

  @ParameterizedTest
  @CsvSource({
    "resnet-50, 1281167",
    "vit-b-16, 1281167",
    "inception-v3, 1281167",
    "cosmoflow-512, 1584",
    "gpt-2-xl, 0",
    "bert-48, 0",
    "gnmt-16, 0",
    "mlp-8x1024, 0",
    "cnn-64-128-256, 0",
    "'resnet-50:classes=10', 0"
  })
  void epochsAreThoseOfTheNetworksOwnDataSet(String name, long samples) {
    OptionalLong expected = samples == 0 ? OptionalLong.empty() : OptionalLong.of(samples);
    assertEquals(expected, model(name).samplesPerEpoch());
  }
}
