package dev.pipewright.app.cli.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.pipewright.app.cli.launch.RankEnvironment.Stated;
import dev.pipewright.formats.file.BadInputException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Environments as launchers make them. Those of Slurm 22.05, Open MPI 4.1.4 and MPICH 4.0.2 are
 * from {@code env} under these programs of Debian 12, shortened to what could matter; the others
 * follow their documentation.
 */
class RankEnvironmentTest {
  private static final String BATCH =
      "SLURM_JOB_ID=41 SLURM_JOBID=41 SLURM_JOB_NODELIST=n[1-2] SLURM_NODELIST=n[1-2]"
          + " SLURM_NTASKS=2 SLURM_NPROCS=2 SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NNODES=2"
          + " SLURM_TASKS_PER_NODE=1(x2) SLURM_SUBMIT_HOST=vm";

  private static final String STEP =
      BATCH
          + " SLURM_STEP_ID=3 SLURM_STEPID=3 SLURM_STEP_NODELIST=n[1-2] SLURM_STEP_NUM_TASKS=2"
          + " SLURM_LAUNCH_NODE_IPADDR=192.0.2.7 SLURM_DISTRIBUTION=cyclic";

  private static final String OPEN_MPI =
      "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1"
          + " OMPI_COMM_WORLD_LOCAL_SIZE=2 PMIX_RANK=1 PMIX_NAMESPACE=1620377601";

  private static final String MPICH =
      "PMI_RANK=1 PMI_SIZE=2 PMI_FD=8 MPI_LOCALNRANKS=2 MPI_LOCALRANKID=1 HYDI_CONTROL_FD=7";

  private static final String TORCHRUN =
      "RANK=3 WORLD_SIZE=4 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 GROUP_RANK=1 MASTER_ADDR=node-0"
          + " MASTER_PORT=29500 TORCHELASTIC_RUN_ID=7 TORCHELASTIC_USE_AGENT_STORE=True";

  private static final String TRAIN_JOB =
      "JOB_COMPLETION_INDEX=1 PET_NNODES=2 PET_NPROC_PER_NODE=1 PET_NODE_RANK=1"
          + " PET_MASTER_ADDR=bert-node-0-0.bert PET_MASTER_PORT=29400";

  private static Map<String, String> environment(String... texts) {
    Map<String, String> environment = new LinkedHashMap<>();
    for (String text : texts) {
      Arrays.stream(text.split(" ", -1))
          .filter(word -> !word.isEmpty())
          .map(word -> word.split("=", 2))
          .forEach(pair -> environment.put(pair[0], pair[1]));
    }
    return environment;
  }

  private static String found(Stated stated, String... texts) {
    LaunchedRank rank = RankEnvironment.of(environment(texts), stated);
    return "%d/%d %s %s"
        .formatted(rank.rank(), rank.worldSize(), rank.coordinator(), rank.launcher());
  }

  private static String found(String... texts) {
    return found(Stated.NOTHING, texts);
  }

  private static String refusal(Stated stated, String... texts) {
    return String.valueOf(
        assertThrows(BadInputException.class, () -> found(stated, texts)).getMessage());
  }

  @Test
  void slurmsStepSaysAll() {
    assertEquals("0/2 n1:20062 Slurm", found(STEP));
    assertEquals("1/2 n1:20062 Slurm", found(STEP, "SLURM_PROCID=1"));
  }

  @Test
  void aStepOfFewerTasksThanItsJobCounts() {
    assertEquals(
        "0/4 gpu-07:20062 Slurm",
        found(STEP, "SLURM_NTASKS=8 SLURM_STEP_NUM_TASKS=4 SLURM_STEP_NODELIST=gpu-[07-09,12],x"));
  }

  @Test
  void mpirunSaysRankAndSizeAndItsJobTheHost() {
    assertEquals("1/4 node-0:29511 Open MPI", found(OPEN_MPI, "MASTER_ADDR=node-0"));
    assertEquals("1/4 n1:20062 Open MPI", found(STEP, OPEN_MPI));
    assertEquals("1/2 127.0.0.1:29511 MPICH", found(MPICH));
    assertEquals("1/2 n1:20041 MPICH", found(BATCH, MPICH, "MPI_LOCALNRANKS=1"));
  }

  @Test
  void torchrunsStoreKeepsItsPort() {
    assertEquals("3/4 node-0:29501 torchrun", found(TORCHRUN));
    assertEquals(
        "3/4 node-0:29500 torchrun", found(TORCHRUN, "TORCHELASTIC_USE_AGENT_STORE=False"));
  }

  @Test
  void theInnermostLauncherDecides() {
    assertEquals("3/4 node-0:29501 torchrun", found(STEP, TORCHRUN));
    assertEquals("3/4 node-0:29501 torchrun", found(TRAIN_JOB, TORCHRUN));
  }

  @Test
  void podsOfKubernetesSayAll() {
    assertEquals("1/2 bert-node-0-0.bert:29400 TrainJob", found(TRAIN_JOB));
    assertEquals(
        "1/2 j-workers-0-0.j:29500 the Indexed Job",
        found("JOB_COMPLETION_INDEX=1 WORLD_SIZE=2 MASTER_ADDR=j-workers-0-0.j MASTER_PORT=29500"));
  }

  @Test
  void flagsComeFirst() {
    assertEquals("1/2 a:7 the command line", found(new Stated(1, 2, "a:7"), STEP));
    assertEquals("0/2 a:20062 Slurm", found(new Stated(null, null, "a"), STEP));
    assertEquals("0/2 a:29511 the command line", found(new Stated(0, 2, "a")));
    assertEquals("0/1 :0 the command line", found(new Stated(0, 1, null)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'' | no launcher has set a rank here (SLURM_PROCID, OMPI_COMM_WORLD_RANK, PMI_RANK, RANK,"
            + " PET_NODE_RANK or JOB_COMPLETION_INDEX); start with srun, mpirun or torchrun, or"
            + " give --rank, --world-size and --coordinator",
        "RANK=0 | torchrun has set RANK but not WORLD_SIZE; set it, or give --world-size N",
        "RANK=2 WORLD_SIZE=2 MASTER_ADDR=a | torchrun says rank 2 of 2 ranks; ranks count from 0 to"
            + " one less than their number",
        "RANK=-1 WORLD_SIZE=2 MASTER_ADDR=a | torchrun says rank -1 of 2 ranks; ranks count from 0"
            + " to one less than their number",
        "RANK=one WORLD_SIZE=2 | RANK is 'one', which is no whole number; correct it, or give"
            + " --rank, --world-size and --coordinator",
        "PET_NODE_RANK=0 PET_NNODES=1:4 | PET_NNODES is '1:4', which is no whole number; correct"
            + " it, or give --rank, --world-size and --coordinator",
        "PMI_RANK=0 PMI_SIZE=2 | MPICH does not say on which host rank 0 runs; set MASTER_ADDR, or"
            + " give --coordinator HOST:PORT",
        "RANK=0 WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=65536 | MASTER_PORT leaves no port for rank"
            + " 0; give one below 65535, or --coordinator HOST:PORT",
      })
  void whatIsMissingOrContradictsIsSaid(String text, String why) {
    assertEquals("--launcher env: " + why, refusal(Stated.NOTHING, text));
  }

  @Test
  void aBatchScriptIsNoTask() {
    assertEquals(
        "--launcher env: Slurm runs a batch script once and not once per task; start the command"
            + " in it with srun",
        refusal(Stated.NOTHING, BATCH));
  }

  @Test
  void aListOfHostsThatIsNoneIsSaid() {
    assertEquals(
        "SLURM_STEP_NODELIST: 'n[1-2' is no list of hosts; give --coordinator HOST:PORT",
        refusal(Stated.NOTHING, STEP, "SLURM_STEP_NODELIST=n[1-2"));
  }

  @ParameterizedTest
  @CsvSource({"a:x", ":7", "a:0", "a:70000", "a:"})
  void anAddressThatIsNoneIsSaid(String address) {
    assertEquals(
        "--coordinator: '%s' is no address; give HOST:PORT of rank 0".formatted(address),
        refusal(new Stated(0, 2, address)));
  }

  @Test
  void theFirstRanksTakeTheRemainderOfTheWorkers() {
    LaunchedRank first = new LaunchedRank(0, 3, "a", 1, "Slurm");
    LaunchedRank last = new LaunchedRank(2, 3, "a", 1, "Slurm");
    assertEquals(2, first.workersOf(4));
    assertEquals(1, last.workersOf(4));
    assertEquals(
        "--launcher env: Slurm starts 3 ranks, but the run has 2 workers; start at most as many"
            + " ranks",
        assertThrows(BadInputException.class, () -> first.workersOf(2)).getMessage());
  }
}
