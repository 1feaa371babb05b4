// From a page at 03:05: explanations and maintenance. They come with their features; alerts: incident.spec.ts.
import { waitsFor } from './absent.ts';

waitsFor('maintenance', 'Maintenance safety');
