return {
  title = "A fleet",
  summary = "cprof push: profiles to Pyroscope or Parca",
  text = [[
    cprof push --url http://localhost:4040 --name 'shop{env=prod}' run.cprof
    cprof push --url http://localhost:7070/api --format parca --name shop run.cprof
    cprof push --url http://localhost:4040 --name shop --watch runs/

| format | what is posted |
|---|---|
| `pyroscope` | `POST /ingest?name=…&from=…&until=…&format=pprof`, a form with the gzipped pprof and what its values are (`sample_type_config`) |
| `parca` | `POST /profiles/writeraw`, JSON with the labels and the gzipped pprof |

- A request that gets no answer, or one of 408, 429 or 500 and above, is tried again `--retries` times, each time after twice as long. Other answers are final.
- `--queue DIR` keeps what could not be sent, at most `--queue-size` requests; beyond that, the oldest are dropped. The next push to the same server sends them first. The folder must be yours, and nobody else may write to it.
- `--watch DIR` sends each recording of a folder when it is complete, and goes on until it is interrupted. For a continuous recording, run it beside the program: that knows nothing of it, is never blocked, and keeps on when the server cannot be reached. The folder is the queue, as long as `keep` says. The file `.cprof-pushed` in it has the names and recordings that were sent.
- `--header 'Authorization: Bearer …'` is sent with each request; so is `X-Scope-OrgID` for a tenant of Pyroscope.
- The certificate of an https server is checked with those in `--cafile`; `--insecure` leaves that out.

The exit status is 1 when something could not be sent. LuaSocket does the posting (Debian's lua-socket; for https also lua-sec). Without lua-zlib, the pprof is gzip without compression.
]],
}
