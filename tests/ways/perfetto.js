// Perfetto's trace processor, as its viewer has it, run by Node: the engine is made for a worker of a browser, and asks of that for no more than stands here.
// A browser would need a server for the files, a page, a profile, and a time by which it has to be done. Here every call returns when it is done.
//
// usage: node --liftoff-only perfetto.js FOLDER <REQUESTS >REPLIES      FOLDER has engine_bundle.js and trace_processor*.wasm; both streams are a TraceProcessorRpcStream

const fs = require('fs'), path = require('path');

const folder = process.argv[2];
const worker = { location: { href: '' } };

class FromFolder {
  open(method, name) {
    this.response = fs.readFileSync(path.join(folder, name));
  }

  send() {}
}

// Node would show the line at which it came to be: all of the engine is one.
process.on('uncaughtException', problem => {
  console.error(problem.stack);
  process.exit(1);
});

// By these names as parameters, the engine finds a worker and no Node. What it has to say goes to stderr, since replies are on stdout.
new Function('self', 'WorkerGlobalScope', 'process', 'XMLHttpRequest', 'console', fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8'))(
  worker, Object, undefined, FromFolder, new console.Console(process.stderr));

// Its memory for requests is there when what it has left to do at once is done.
setImmediate(() => {
  const port = { postMessage: bytes => process.stdout.write(bytes) };
  worker.onmessage({ data: port });
  port.onmessage({ data: new Uint8Array(fs.readFileSync(0)) });
});
