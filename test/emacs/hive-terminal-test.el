;;; hive-terminal-test.el --- The terminal in which an agent runs  -*- lexical-binding: t; -*-

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

(defvar ghostel--pid)

;; Its process is a pipe, which has no id.
(ert-deftest hive-terminal-of-ghostel-is-found-by-the-program-behind-its-pipe ()
  (let* ((buffer (generate-new-buffer "ghostel"))
         (program (make-process :name "shell" :buffer nil :noquery t :command '("sleep" "60")))
         (pipe (make-pipe-process :name "ghostel" :buffer buffer :noquery t)))
    (unwind-protect
        (let ((pid (process-id program)))
          (should-not (hive-terminal-buffer pid))
          (process-put pipe 'ghostel--native-pid pid)
          (should (eq buffer (hive-terminal-buffer pid)))
          (process-put pipe 'ghostel--native-pid nil)
          (with-current-buffer buffer
            (defvar-local ghostel--pid nil)
            (setq-local ghostel--pid pid))
          (should (eq buffer (hive-terminal-buffer pid))))
      (makunbound 'ghostel--pid)
      (delete-process pipe)
      (delete-process program)
      (kill-buffer buffer))))

;;; hive-terminal-test.el ends here
