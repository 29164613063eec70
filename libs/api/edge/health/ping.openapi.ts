import { z } from 'zod';
import { describeController, describeEmpty } from '#api/json-api/description';
import { SERVER } from './discovery.openapi.js';
import { PingController, TFE_VERSION } from './ping.controller.js';

export const pingOperations = describeController(PingController, SERVER, {
  ping: {
    summary: 'Show the version of the API',
    answer: describeEmpty({
      headers: {
        'TFP-API-Version': z.literal('2.6').meta({ description: 'The version of the API.' }),
        'TFP-AppName': z.literal('Cadastre').meta({ description: 'The name of the product.' }),
        'X-TFE-Version': z.literal(TFE_VERSION).meta({
          description: 'A release of Terraform Enterprise, from which clients derive what the server can do.',
        }),
        'X-TFE-Current-Version': z
          .literal('2.0.1')
          .meta({ description: 'The release of Terraform Enterprise whose resources the API has.' }),
        'X-RateLimit-Limit': z
          .int()
          .optional()
          .meta({ description: 'The number of requests in a second that a token may send, if it is limited.' }),
      },
    }),
  },
});
