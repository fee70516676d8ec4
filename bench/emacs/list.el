;;; list.el --- How long the list of questions holds Emacs  -*- lexical-binding: t; -*-

;;; Commentary:

;; Run in batch by bench/rows/emacs.ts.  With BENCH_PENDING questions waiting
;; the list is opened BENCH_ROUNDS times, and refreshed as often.  A refresh
;; blocks Emacs twice: it prints the lines that look different, here none, and
;; later it takes over the new list of the sidecar.  Prints three arrays of
;; milliseconds: of opening, of refreshing, of taking a snapshot.

;;; Code:

(load (expand-file-name "desk" (file-name-directory load-file-name)) nil t)

(let ((pending (string-to-number (getenv "BENCH_PENDING")))
      (inhibit-message t)
      opened refreshed taken)
  (bench-open-desk pending)
  (dotimes (_ (string-to-number (getenv "BENCH_ROUNDS")))
    ;; The garbage of the bench itself, such as a snapshot, is collected first.
    (garbage-collect)
    (push (bench-time #'hive-list) opened)
    (push (bench-time #'hive-list-refresh) refreshed)
    (let ((snapshot (bench-snapshot pending)))
      (garbage-collect)
      (push (bench-time (lambda ()
                          (hive-model-replace snapshot)
                          (bench-run-changed)))
            taken))
    (kill-buffer (current-buffer)))
  (princ (json-serialize (apply #'vector (mapcar #'vconcat (list opened refreshed taken))))))

;;; list.el ends here
