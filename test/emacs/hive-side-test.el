;;; hive-side-test.el --- The list at the side of a frame  -*- lexical-binding: t; -*-

(require 'hive-list-test-help)
(require 'hive-mode-line)
(require 'hive-test-help)

(defun hive-side-test-action (side)
  "Return an alist of how the list is displayed at SIDE."
  (let ((hive-side-window side) (hive-mode-line--window nil) (action nil))
    (cl-letf (((symbol-function 'display-buffer-in-side-window)
               (lambda (_buffer alist) (setq action alist) nil))
              ((symbol-function 'hive-notify-busy-p) #'ignore)
              ((symbol-function 'frame-width) (lambda (&rest _) 110)))
      (hive-mode-line--open))
    action))

(ert-deftest hive-side-at-the-left-and-right-there-is-room-for-the-question ()
  (hive-list-test
    (hive-model-put-prompt (hive-test-prompt))
    (dolist (side '(left right))
      (let ((action (hive-side-test-action side)))
        (should (eq side (alist-get 'side action)))
        ;; Half of a frame of 110 columns, less than the 60 columns in a wide frame.
        (should (= 55 (alist-get 'window-width action)))))))

(ert-deftest hive-side-the-first-question-is-in-the-window-as-it-opens ()
  (hive-list-test
    (save-window-excursion
      (let ((hive-side-window 'left) (hive-mode-line--window nil))
        (hive-model-put-prompt (hive-test-prompt :question "Here?"))
        (cl-letf (((symbol-function 'hive-notify-busy-p) #'ignore))
          (hive-mode-line--open))
        (should (window-live-p hive-mode-line--window))
        (with-current-buffer (window-buffer hive-mode-line--window)
          (goto-char (window-start hive-mode-line--window))
          (should (search-forward "Here?" nil t)))
        (delete-window hive-mode-line--window)))))
