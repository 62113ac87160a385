module org.example.consumer {
  requires dev.pipewright.formats;
}
