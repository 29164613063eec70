export { PagesModule } from './pages.module.js';
export { html, trustHtml, type Html, type HtmlValue } from './html.js';
export { renderMessagePage, renderPage, type HtmlPage, type PageContent, type PageMessage } from './page.renderer.js';
export { renderField, renderHiddenField, renderNotice, type FormField } from './forms.renderer.js';
export { redirectToPage, sendPage } from './send-page.js';
export { parseReturnPath } from './return-path.js';
export { PageRefusalFilter } from './page-refusals.filter.js';
export { StaticFile } from './static-files.js';
export { PublishedFiles, type PublishedFilesOptions } from './published-files.js';
