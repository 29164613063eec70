/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return -- plain JavaScript: it is copied into the image as it is */
// Exits with 0 where the process in this container answers at /healthz.
//
// The gateway speaks TLS unless CADASTRE_TLS is off; projector and publisher always answer in plain HTTP. Which of them
// runs here is not known, so both are tried. Nobody's identity matters on the way to oneself, hence no verification:
// certificates of yours need not name 127.0.0.1.
import http from 'node:http';
import https from 'node:https';

const port = process.env['PORT'] || '8443';

const answers = (client, options) =>
  new Promise((resolve) => {
    const request = client.get(
      { host: '127.0.0.1', port, path: '/healthz', timeout: 2_000, ...options },
      (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      },
    );
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });

const healthy = (await answers(https, { rejectUnauthorized: false })) || (await answers(http, {}));
process.exit(healthy ? 0 : 1);
