;;; event.el --- How long one arriving event holds Emacs  -*- lexical-binding: t; -*-

;;; Commentary:

;; Run in batch by bench/rows/emacs.ts.  With BENCH_PENDING questions waiting,
;; BENCH_EVENTS events arrive, in turn a new question and news of one that
;; was settled.  Timed is everything from the JSON to the end of what the
;; change sets off.  Then the status buffer is refreshed as often as ten events
;; arrive.  Prints four arrays of milliseconds: the events without a buffer, with
;; the list of questions shown in a window, and with the status buffer of
;; BENCH_AGENTS agents; and the refreshes of the latter.

;;; Code:

(load (expand-file-name "desk" (file-name-directory load-file-name)) nil t)

(defun bench-event (method json)
  "Handle METHOD with the params in JSON; return the milliseconds it took."
  (bench-time (lambda ()
                (hive-rpc-handle method (bench-parse json))
                (bench-run-changed))))

(defun bench-frames (first count)
  "Return COUNT events, numbered from FIRST, as they come over the wire."
  (mapcar (lambda (index)
            (let ((number (+ first (/ index 2))))
              (if (= 0 (% index 2))
                  (cons 'hivemind-ask (bench-json number "pending"))
                (cons 'prompt/changed (bench-json number "responded")))))
          (number-sequence 0 (1- count))))

(defun bench-events (frames)
  "Let FRAMES arrive; return their times."
  (vconcat (mapcar (lambda (frame) (bench-event (car frame) (cdr frame))) frames)))

(let ((events (string-to-number (getenv "BENCH_EVENTS")))
      (inhibit-message t)
      plain listed status refreshed)
  (bench-open-desk (string-to-number (getenv "BENCH_PENDING")))
  (bench-events (bench-frames 100000 20))
  ;; Made before anything is timed: the garbage of the bench is not Hive's.
  (let ((frames (bench-frames 200000 events)))
    (garbage-collect)
    (setq plain (bench-events frames)))
  (save-window-excursion
    (hive-list)
    (let ((frames (bench-frames 300000 events)))
      (garbage-collect)
      (setq listed (bench-events frames))))
  (bench-open-agents (string-to-number (getenv "BENCH_AGENTS")))
  (save-window-excursion
    (hive)
    (let ((frames (bench-frames 400000 events)))
      (garbage-collect)
      (setq status (bench-events frames)))
    (dotimes (_ (/ events 10))
      (garbage-collect)
      (push (bench-time #'hive-list-refresh) refreshed)))
  (princ (json-serialize (vector plain listed status (vconcat refreshed)))))

;;; event.el ends here
