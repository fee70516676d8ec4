;;; hive-terminal-test.el --- The terminal in which an agent runs  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Author: The Hive contributors
;; Assisted-by: Claude:TO-BE-FILLED-IN

;;; Code:

(require 'hive-interrupt)
(require 'hive-test-help)

(ert-deftest hive-terminal-is-found-by-the-process-that-runs-in-it ()
  (let* ((buffer (generate-new-buffer "terminal"))
         (process (make-process :name "shell" :buffer buffer :noquery t
                                :command '("sh" "-c" "sleep 30 & echo $!; wait"))))
    (unwind-protect
        (let ((pid (hive-test-wait 5 (with-current-buffer buffer
                                       (and (string-match "\\([0-9]+\\)" (buffer-string))
                                            (string-to-number (match-string 1 (buffer-string))))))))
          (should (eq buffer (hive-terminal-buffer pid)))
          (should-not (hive-terminal-buffer (emacs-pid)))
          (should-not (hive-terminal-buffer nil))
          (signal-process pid 'kill))
      (delete-process process)
      (kill-buffer buffer))))

;;; hive-terminal-test.el ends here
