def report_writer(path): raise NotImplementedError
