import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/* The last step of `npm run build:consumer`. The peer kafkajs is a fixed version, because the patch changes a private class. */

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('name the folder of the compiled files');
// The server patches kafkajs when it creates a client. The users of the package create clients themselves.
const entry = `import { patchRequestQueue } from './storage/message-log/connection/request-queue.patch.js';
patchRequestQueue();
export * from './packages/consumer/index.js';
`;
await writeFile(join(folder, 'index.js'), entry);
await writeFile(join(folder, 'index.d.ts'), "export * from './packages/consumer/index.js';\n");
