import { describeAlternatives, describeController, describeFile, nextPage } from '#api/json-api/description';
import { ConsoleController } from './console.controller.js';
import { StartPageController } from './start-page.controller.js';

export const CONSOLE = { name: 'Console', description: 'The web console for browsers.' };

export const consoleOperations = describeController(ConsoleController, CONSOLE, {
  showPage: {
    operationId: ['getConsole', 'getConsoleScreen'],
    summary: 'Show the web console',
    description: 'The page is the same at every address. Its scripts show the screen of the address.',
    path: { path: { description: 'The path of the screen.', example: 'acme/workspaces' } },
    answer: describeFile('text/html'),
  },
  showAsset: {
    operationId: 'getConsoleFile',
    summary: 'Download a file of the web console',
    path: { file: { description: 'The name of the file.', example: 'index.js' } },
    // A name without a dot is a screen of an organization that is called `assets`.
    answer: describeAlternatives(
      [describeFile('text/javascript'), describeFile('text/css'), describeFile('text/html')],
      {
        description: 'The file, or the page of the console.',
      },
    ),
  },
});

export const startPageOperations = describeController(StartPageController, CONSOLE, {
  redirectToConsole: {
    operationId: 'getStartPage',
    summary: 'Open the web console',
    description: 'Redirects browsers from the address of the server to the console.',
    answer: nextPage,
  },
});
