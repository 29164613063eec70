// The bound of a read: Fastify that sends fixed bytes for each request. Its argument is a list of [case, file] pairs. The
// path of a request begins with the case. It prints its port.
import { readFileSync } from 'node:fs';
import fastify from 'fastify';

if (import.meta.main) {
  const app = fastify();
  for (const [name, file] of JSON.parse(process.argv[2])) {
    const bytes = readFileSync(file);
    app.get(`/${name}/*`, (_request, reply) => {
      void reply.header('content-type', 'application/vnd.api+json').send(bytes);
    });
  }
  await app.listen({ port: 0, host: '127.0.0.1' });
  process.stdout.write(`${app.server.address().port}\n`);
}
