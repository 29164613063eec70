import { describeController, describeFile } from '#api/json-api/description';
import { PagesController } from './pages.controller.js';

export const PAGES = { name: 'Pages', description: 'Files of the pages for browsers.' };

export const pagesOperations = describeController(PagesController, PAGES, {
  showStylesheet: {
    operationId: 'getPageStylesheet',
    summary: 'Download the stylesheet of the pages',
    answer: describeFile('text/css'),
  },
  showIcon: {
    operationId: 'getPageIcon',
    summary: 'Download the icon of the pages',
    answer: describeFile('image/svg+xml'),
  },
});
