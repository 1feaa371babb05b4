// From a page at 03:05: alerts, explanations and maintenance. They come with their features.
import { waitsFor } from './absent.ts';

waitsFor('alerts', 'Pager link');
waitsFor('alerts', 'Old link');
waitsFor('alerts', 'Unknown label set');
waitsFor('alerts', 'Zero end time');
waitsFor('alerts', 'Back and silence');
waitsFor('explain', 'Explain selection');
waitsFor('explain', 'No cause');
waitsFor('explain', 'Recurring compaction');
waitsFor('maintenance', 'Maintenance safety');
