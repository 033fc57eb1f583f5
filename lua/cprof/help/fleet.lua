return {
  title = "A fleet",
  summary = "cprof push: profiles to Pyroscope or Parca",
  text = [[
    cprof push --url http://localhost:4040 --name 'shop{env=prod}' run.cprof
    cprof push --url http://localhost:7070/api --format parca --name shop run.cprof
    cprof push --url http://localhost:4040 --name shop --watch runs/

| format | what is posted |
|---|---|
| `pyroscope` | `POST /ingest?name=…&from=…&until=…&format=pprof`, a form with the gzipped pprof and the types of its values (`sample_type_config`) |
| `parca` | `POST /profiles/writeraw`, JSON with the labels and the gzipped pprof |

- A request without an answer, or with the status 408, 429 or 500 and above, is tried again `--retries` times, after a pause that doubles each time. Other answers are final.
- `--queue DIR` keeps requests that could not be sent, at most `--queue-size`; the oldest are dropped first. The next push to the same server sends them first. The folder must be yours, and nobody else may write to it.
- `--watch DIR` sends each recording of a folder when it is complete, until cprof is interrupted. For a continuous recording, run it beside the program. It never blocks the program, which goes on if the server cannot be reached. The folder is the queue, for as long as the option `keep` leaves files in it. Its file `.cprof-pushed` lists what was sent, and under which names.
- `--header 'Authorization: Bearer …'` adds a header to each request, such as `X-Scope-OrgID` for a tenant of Pyroscope.
- The certificate of an https server is checked against those in `--cafile`; `--insecure` skips the check.

The exit status is 1 if something could not be sent. LuaSocket is needed (Debian's lua-socket; for https also lua-sec). Without lua-zlib, the gzipped pprof is not compressed.
]],
}
