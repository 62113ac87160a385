/** Trains, measures and joins on libtorch; found as services, so that nothing is exported. */
module dev.pipewright.runtime {
  requires dev.pipewright.core;
  requires dev.pipewright.formats;
  requires java.desktop;
  requires java.management;
  requires jdk.net;
  requires org.bytedeco.javacpp;
  requires org.bytedeco.pytorch;
  requires tools.jackson.core;
  requires tools.jackson.databind;
  requires static org.jspecify;

  provides dev.pipewright.execution.CheckpointService with
      dev.pipewright.runtime.training.CheckpointFiles;
  provides dev.pipewright.execution.JoiningService with
      dev.pipewright.runtime.launch.Joining;
  provides dev.pipewright.execution.ProfilingService with
      dev.pipewright.runtime.profiler.Profiler;
  provides dev.pipewright.execution.TrainingService with
      dev.pipewright.runtime.training.Trainer;
}
